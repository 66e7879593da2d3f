import { type JsonSchema, schemaOfFields } from "../schema/index.ts";
import { ENROLMENT_FIELDS } from "./enrolment.ts";
import { MANIFEST_FIELDS, SIGNED_MANIFEST_FIELDS } from "./manifest-fields.ts";
import { OPERATIONS_FIELDS, SERVICE_INFO_FIELDS } from "./operations-fields.ts";
import { release } from "./release-fields.ts";
import { TASK_FIELDS } from "./task-fields.ts";
import { SIGNED_SHARE_FIELDS, WINDOW_SHARE_FIELDS } from "./window-share.ts";
import { WINDOW_STATUS_FIELDS } from "./window-status-fields.ts";

/**
 * What a service publishes of a window that is over: of one server its release, or why there is none; of two a share.
 */
const published: JsonSchema = {
  anyOf: [...(release.schema.anyOf as JsonSchema[]), schemaOfFields(SIGNED_SHARE_FIELDS)],
};

type MessageName =
  | "task"
  | "manifest"
  | "signedManifest"
  | "enrolment"
  | "release"
  | "published"
  | "windowShare"
  | "windowStatus"
  | "serviceInfo"
  | "operations";

/** The messages in JSON Schema, from the same descriptions by which they are read. */
export const SCHEMAS: Readonly<Record<MessageName, JsonSchema>> = {
  task: schemaOfFields(TASK_FIELDS),
  manifest: schemaOfFields(MANIFEST_FIELDS),
  signedManifest: schemaOfFields(SIGNED_MANIFEST_FIELDS),
  enrolment: schemaOfFields(ENROLMENT_FIELDS),
  release: release.schema,
  published,
  windowShare: schemaOfFields(WINDOW_SHARE_FIELDS),
  windowStatus: schemaOfFields(WINDOW_STATUS_FIELDS),
  serviceInfo: schemaOfFields(SERVICE_INFO_FIELDS),
  operations: schemaOfFields(OPERATIONS_FIELDS),
};
