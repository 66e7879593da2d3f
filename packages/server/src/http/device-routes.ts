import { LetheError } from "@lethe/core/error";
import { DEVICE_BYTES, decodeBase64urlOf, encodeEnrolment, encodeSignedManifest, windowAt } from "@lethe/core/message";
import { z } from "zod";
import { groupNumberOf } from "../intake/group.ts";
import type { Intake } from "../intake/intake.ts";
import { protocolOf } from "../protocol/protocol.ts";
import { createWindowFinder } from "../storage/windows.ts";
import type { ApiParts } from "./api.ts";
import { type Route, route, textOf } from "./route.ts";
import * as schemas from "./schemas.ts";
import type { WindowLookup } from "./window-lookup.ts";

const MOST_ENROLMENT_BYTES = 65_536;

/** What devices ask first: the manifest of a task. */
export function manifestRoute({ clock }: ApiParts, { firstVersion, versionIn }: WindowLookup): Route<unknown> {
  return route({
    method: "GET",
    path: "/v1/tasks/{task}",
    summary: "The signed manifest of a task, as it is in force in a window, by default the running one",
    anyOrigin: true,
    parameters: schemas.ofTask.extend({ window: schemas.windowNumber.optional() }),
    answers: { 200: { description: "manifest and signature", schema: schemas.signedManifest } },
    refusals: ["bad-encoding", "unknown-task", "window-closed"],
    handle: async ({ parameters: { task, window } }) => {
      const { manifest } = firstVersion(task);
      const running = Math.max(windowAt(manifest, clock.guess()), manifest.fromWindow);
      const { signed } = versionIn({ task, window: window ?? running });
      return { status: 200, body: encodeSignedManifest(signed) };
    },
  });
}

/** What devices ask besides: to be enrolled, and to report. Pages of any origin may. */
export function deviceRoutes(
  parts: ApiParts,
  intake: Pick<Intake, "admit" | "enrol" | "upload">,
  lookup: WindowLookup,
): Route<unknown>[] {
  const windowOf = createWindowFinder(parts.database);
  return [enrolmentRoute(parts, intake, lookup, windowOf), reportRoute(parts, intake, lookup, windowOf)];
}

type WindowFinder = ReturnType<typeof createWindowFinder>;

function enrolmentRoute(
  { database, metrics }: ApiParts,
  intake: Pick<Intake, "admit" | "enrol">,
  { versionIn, requireEnrolmentOpen }: WindowLookup,
  windowOf: WindowFinder,
): Route<unknown> {
  return route({
    method: "POST",
    path: "/v1/tasks/{task}/windows/{window}/devices",
    summary: "Enrols a device in the running window or the next",
    anyOrigin: true,
    parameters: schemas.ofWindow,
    body: {
      type: "application/json",
      most: MOST_ENROLMENT_BYTES,
      optional: true,
      schema: z.strictObject({
        group: schemas.taskName.optional().describe("one of the task's groups, if it has any"),
        attestation: z.unknown().describe("for the operator's own check"),
      }),
    },
    answers: { 201: { description: "device id, upload token and signed public keys", schema: schemas.enrolment } },
    refusals: [
      "bad-encoding",
      "unauthorized",
      "unknown-task",
      "window-closed",
      "wrong-size",
      "wrong-type",
      "window-not-open",
      "rate-limited",
      "no-keys-left",
    ],
    before: (at) => {
      requireEnrolmentOpen(at);
      database.guard?.requireRoom();
    },
    handle: async ({ parameters, body, bearer, address }) => {
      const { attestation, group } = bodyIn(body);
      const version = versionIn(parameters);
      const groupNumber = groupNumberOf(version.manifest, group);
      await intake.admit({ ...parameters, address, bearer, attestation });
      const window = await windowOf(parameters.task, parameters.window);
      if (!window) throw new LetheError("no-keys-left", "the window is being prepared: try again in a moment");
      const enrolled = await intake.enrol(window, address, groupNumber);
      metrics.enrolled();
      const { device, uploadToken } = enrolled;
      const keys = protocolOf(version).keysOf(enrolled);
      const text = encodeEnrolment({ device, uploadToken, manifestHash: version.hash, keys }, base64urlOf);
      // As bytes, which Node sends as they are: it would copy a text of this length three times.
      return { status: 201, type: "application/json", body: Buffer.from(text) };
    },
  });
}

function reportRoute(
  { database, metrics }: ApiParts,
  intake: Pick<Intake, "upload">,
  { versionIn, requireUploadOpen }: WindowLookup,
  windowOf: WindowFinder,
): Route<unknown> {
  return route({
    method: "PUT",
    path: "/v1/tasks/{task}/windows/{window}/reports/{device}",
    summary: "Takes in a device's one report for a window",
    anyOrigin: true,
    parameters: schemas.ofDevice,
    body: { type: "application/octet-stream", bytes: (parameters) => versionIn(parameters).reportBytes },
    answers: {
      200: { description: "these very bytes were received before" },
      201: { description: "received, and stored" },
    },
    refusals: [
      "bad-encoding",
      "unauthorized",
      "unknown-task",
      "unknown-device",
      "report-differs",
      "window-closed",
      "wrong-size",
      "wrong-type",
      "window-not-open",
    ],
    before: (at) => {
      requireUploadOpen(at);
      database.guard?.requireRoom();
    },
    handle: async ({ parameters, body, bearer }) => {
      const device = deviceOf(parameters.device);
      if (bearer === undefined) throw new LetheError("unauthorized", "a report takes the device's upload token");
      const window = await windowOf(parameters.task, parameters.window);
      if (!window) throw new LetheError("unknown-device", "no device is enrolled in this window");
      const receipt = await intake.upload({ window, task: versionIn(parameters), device, token: bearer, body });
      metrics.received(receipt);
      return { status: receipt === "stored" ? 201 : 200 };
    },
  });
}

/** These two are several times as fast as core's, which has no `Buffer`. */
function deviceOf(text: string): Uint8Array {
  const device = Buffer.from(text, "base64url");
  // Core refuses what does not come back, such as stray bits at the end.
  return device.toString("base64url") === text ? device : decodeBase64urlOf("device", DEVICE_BYTES, text);
}

const base64urlOf = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString("base64url");

function bodyIn(body: Uint8Array): { readonly attestation?: unknown; readonly group?: string } {
  if (body.length === 0) return {};
  try {
    const found = JSON.parse(textOf(body)) as unknown;
    if (typeof found === "object" && found !== null && !Array.isArray(found)) {
      const { attestation, group } = found as { attestation?: unknown; group?: unknown };
      if (group === undefined) return { attestation };
      if (typeof group === "string") return { attestation, group };
    }
  } catch {
    // Told below.
  }
  throw new LetheError("bad-encoding", 'the body is absent, or an object like {"group":"beta","attestation":…}');
}
