import { count, described, type Field, type Fields, field, list, object, oneOf, text, url } from "../schema/index.ts";
import { base64url } from "./base64url-field.ts";
import type { SignedManifest } from "./manifest.ts";
import { decodeOperatorKey, KEY_ROLES, type Manifest, type ManifestServer, SIGNATURE_BYTES } from "./manifest.ts";
import { TASK_FIELDS } from "./task-fields.ts";

const operatorKey: Field<string> = field(
  (path, value) => {
    const found = text(path, value);
    decodeOperatorKey(found, path);
    return found;
  },
  { type: "string", pattern: "^ed25519:[A-Za-z0-9_-]{43}$" },
);

const SERVER: Fields<ManifestServer> = { role: oneOf(...KEY_ROLES), url, key: operatorKey };

/** The fields of a manifest: those of its task, and three more. */
export const MANIFEST_FIELDS: Fields<Manifest> = {
  ...TASK_FIELDS,
  fromWindow: count,
  servers: list("servers", object("a server", SERVER), 1, 2),
};

/** The envelope of a manifest. */
export const SIGNED_MANIFEST_FIELDS: Fields<SignedManifest> = {
  manifest: described(text, "the text of a Manifest, JSON; the signature covers its UTF-8 bytes"),
  signature: described(base64url(SIGNATURE_BYTES), "Ed25519, base64url"),
};
