import { LetheError } from "@lethe/core/error";
import {
  DEVICE_BYTES,
  decodeBase64urlOf,
  encodeEnrolment,
  encodeSignedManifest,
  parseTask,
  type Task,
  type WindowState,
  type WindowStatus,
} from "@lethe/core/message";
import { z } from "zod";
import type { EnrolmentRequest } from "../intake/admission.ts";
import type { Enrolled } from "../intake/enrol.ts";
import type { Receipt, Upload } from "../intake/upload.ts";
import type { Database } from "../storage/database.ts";
import { findRelease, findReleases } from "../storage/releases.ts";
import type { TaskRegistry, TaskVersion } from "../storage/tasks.ts";
import { createWindowFinder, findWindow, refusalsOf, type WindowIdentity, type WindowRow } from "../storage/windows.ts";
import { phaseOf, timesOf, windowAt, windowSeconds } from "../window-time.ts";
import type { Metrics } from "./metrics.ts";
import { type Answered, type Route, route } from "./route.ts";
import * as schemas from "./schemas.ts";

/** What the endpoints stand on. */
export interface ApiParts {
  readonly database: Database;
  readonly tasks: TaskRegistry;
  readonly metrics: Metrics;
  /** Unix seconds. */
  readonly now: () => number;
  readonly enrol: (window: WindowIdentity, address: string) => Promise<Enrolled>;
  /** Throws if this request may not enrol a device. */
  readonly admit: (request: EnrolmentRequest) => Promise<void>;
  readonly upload: (upload: Upload) => Promise<Receipt>;
  readonly createTask: (task: Task) => Promise<{ version: TaskVersion; isNew: boolean }>;
  /** Closes a window before its time. */
  readonly close: (window: WindowIdentity) => Promise<void>;
}

const MOST_TASK_BYTES = 1_000_000;
const MOST_ENROLMENT_BYTES = 65_536;
const ROLE = "tally";

const ofTask = z.strictObject({ task: schemas.taskName });
const ofWindow = z.strictObject({ task: schemas.taskName, window: schemas.windowNumber });
const ofDevice = z.strictObject({
  task: schemas.taskName,
  window: schemas.windowNumber,
  device: schemas.deviceId,
});

/** The endpoints of DESIGN §8.2, in its order. */
export function createApi(parts: ApiParts): Route<unknown>[] {
  const { database, tasks, metrics, now } = parts;
  const windowOf = createWindowFinder(database);

  /** The version a window runs under. */
  function versionIn({ task, window }: { task: string; window: number }): TaskVersion {
    const version = tasks.inWindow(task, window);
    if (version) return version;
    const first = tasks.versions(task)[0]?.manifest;
    if (!first) throw unknownTask(task);
    throw new LetheError("window-closed", `${task} begins with window ${first.fromWindow}`);
  }

  function requireEnrolmentOpen(at: { task: string; window: number }): void {
    const { manifest } = versionIn(at);
    const phase = phaseOf(manifest, at.window, now());
    if (phase === "later") {
      const running = windowAt(manifest, now());
      throw new LetheError(
        "window-not-open",
        `devices enrol for the running window, ${running}, and the next; not for ${at.window}`,
      );
    }
    if (phase === "grace" || phase === "over") throw new LetheError("window-closed", `window ${at.window} is over`);
  }

  function requireUploadOpen(at: { task: string; window: number }): void {
    const phase = phaseOf(versionIn(at).manifest, at.window, now());
    if (phase === "later" || phase === "next") {
      throw new LetheError("window-not-open", `window ${at.window} has not begun`);
    }
    if (phase === "over") throw new LetheError("window-closed", `window ${at.window} takes no more reports`);
  }

  async function status({ task, window }: { task: string; window: number }): Promise<WindowStatus> {
    const { manifest } = versionIn({ task, window });
    const row = await findWindow(database, task, window);
    return {
      task,
      version: manifest.version,
      window,
      state: stateOf(manifest, window, row, now()),
      ...timesOf(manifest, window),
      enrolled: row?.enrolled ?? 0,
      received: row?.received ?? 0,
      minimumDevices: manifest.minimumDevices,
      refused: row ? await refusalsOf(database, row.id) : {},
    };
  }

  return [
    route({
      method: "GET",
      path: "/v1/tasks/{task}",
      summary: "The signed manifest of a task, as it is in force in a window, by default the running one",
      anyOrigin: true,
      parameters: ofTask.extend({ window: schemas.windowNumber.optional() }),
      answers: { 200: { description: "manifest and signature", schema: schemas.signedManifest } },
      refusals: ["bad-encoding", "unknown-task", "window-closed"],
      handle: async ({ parameters: { task, window } }) => {
        const [first] = tasks.versions(task);
        if (!first) throw unknownTask(task);
        const running = Math.max(windowAt(first.manifest, now()), first.manifest.fromWindow);
        const { signed } = versionIn({ task, window: window ?? running });
        return { status: 200, body: encodeSignedManifest(signed) };
      },
    }),
    route({
      method: "POST",
      path: "/v1/tasks/{task}/windows/{window}/devices",
      summary: "Enrols a device in the running window or the next",
      anyOrigin: true,
      parameters: ofWindow,
      body: {
        type: "application/json",
        most: MOST_ENROLMENT_BYTES,
        optional: true,
        schema: z.strictObject({ attestation: z.unknown().describe("for the operator's own check") }),
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
      before: requireEnrolmentOpen,
      handle: async ({ parameters, body, bearer, address }) => {
        await parts.admit({ ...parameters, address, bearer, attestation: attestationIn(body) });
        const window = await windowOf(parameters.task, parameters.window);
        if (!window) throw new LetheError("no-keys-left", "the window is being prepared: try again in a moment");
        const enrolled = await parts.enrol(window, address);
        metrics.enrolled();
        const { hash } = versionIn(parameters);
        const { device, uploadToken, publicKeys, signature } = enrolled;
        const keys = [{ role: ROLE, publicKeys, signature }] as const;
        return { status: 201, body: encodeEnrolment({ device, uploadToken, manifestHash: hash, keys }) };
      },
    }),
    route({
      method: "PUT",
      path: "/v1/tasks/{task}/windows/{window}/reports/{device}",
      summary: "Takes in a device's one report for a window",
      anyOrigin: true,
      parameters: ofDevice,
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
        "rate-limited",
      ],
      before: requireUploadOpen,
      handle: async ({ parameters, body, bearer }) => {
        const device = decodeBase64urlOf("device", DEVICE_BYTES, parameters.device);
        if (bearer === undefined) throw new LetheError("unauthorized", "a report takes the device's upload token");
        const window = await windowOf(parameters.task, parameters.window);
        if (!window) throw new LetheError("unknown-device", "no device is enrolled in this window");
        const receipt = await parts.upload({ window, task: versionIn(parameters), device, token: bearer, body });
        metrics.received(receipt);
        return { status: receipt === "stored" ? 201 : 200 };
      },
    }),
    route({
      method: "GET",
      path: "/v1/tasks/{task}/releases",
      summary: "Releases of a task, newest first",
      parameters: ofTask.extend({
        limit: z
          .string()
          .regex(/^([1-9]\d?|100)$/)
          .default("10"),
        before: schemas.windowNumber.optional(),
      }),
      answers: { 200: { description: "releases", schema: schemas.releases } },
      refusals: ["bad-encoding", "unknown-task"],
      handle: async ({ parameters: { task, limit, before = Number.MAX_SAFE_INTEGER } }) => {
        if (tasks.versions(task).length === 0) throw unknownTask(task);
        const documents = await findReleases(database, task, { before, limit: Number(limit) });
        return { status: 200, body: `{"releases":[${documents.join(",")}]}` };
      },
    }),
    route({
      method: "GET",
      path: "/v1/tasks/{task}/releases/{window}",
      summary: "The release of a window",
      parameters: ofWindow,
      answers: { 200: { description: "the release, or why there is none", schema: schemas.release } },
      refusals: ["bad-encoding", "unknown-task", "window-closed", "window-not-open"],
      handle: async ({ parameters }) => {
        const body = await findRelease(database, parameters.task, parameters.window);
        if (body !== undefined) return { status: 200, body };
        const { state, received, minimumDevices } = await status(parameters);
        const { task, window } = parameters;
        if (state === "closed" && !(await findWindow(database, task, window))) {
          throw new LetheError("window-closed", `nobody was enrolled in window ${window}: there is no release`);
        }
        throw new LetheError(
          "window-not-open",
          `window ${window} is not released yet: ${state}, ${received} reports, at least ${minimumDevices} needed`,
        );
      },
    }),
    route({
      method: "GET",
      path: "/v1/tasks/{task}/windows/{window}",
      summary: "How far a window is",
      parameters: ofWindow,
      answers: { 200: { description: "the window", schema: schemas.windowStatus } },
      refusals: ["bad-encoding", "unknown-task", "window-closed"],
      handle: async ({ parameters }) => json(200, await status(parameters)),
    }),
    route({
      method: "GET",
      path: "/v1/tasks",
      summary: "All tasks",
      admin: true,
      parameters: z.strictObject({}),
      answers: { 200: { description: "tasks", schema: schemas.tasks } },
      refusals: ["unauthorized", "bad-encoding"],
      handle: async () => json(200, { tasks: tasks.names().map((name) => summarize(tasks.versions(name), now())) }),
    }),
    route({
      method: "POST",
      path: "/v1/tasks",
      summary: "Creates a task, or a new version of one",
      admin: true,
      parameters: z.strictObject({}),
      body: { type: "application/json", most: MOST_TASK_BYTES, schema: schemas.task },
      answers: {
        200: { description: "this very task is there already", schema: schemas.signedManifest },
        201: { description: "its manifest", schema: schemas.signedManifest },
      },
      refusals: ["unauthorized", "bad-encoding", "wrong-size", "wrong-type", "bad-task"],
      handle: async ({ body }) => {
        const { version, isNew } = await parts.createTask(parseTask(textOf(body)));
        return { status: isNew ? 201 : 200, body: encodeSignedManifest(version.signed) };
      },
    }),
    route({
      method: "POST",
      path: "/v1/tasks/{task}/windows/{window}/close",
      summary: "Closes a window before its time",
      admin: true,
      parameters: ofWindow,
      answers: { 200: { description: "the window, closed", schema: schemas.windowStatus } },
      refusals: ["unauthorized", "bad-encoding", "unknown-task", "window-closed", "window-not-open"],
      before: requireUploadOpen,
      handle: async ({ parameters }) => {
        const window = await findWindow(database, parameters.task, parameters.window);
        if (!window) throw new LetheError("window-not-open", "the window is being prepared: try again in a moment");
        await parts.close(window);
        return json(200, await status(parameters));
      },
    }),
  ];
}

function json(status: number, body: unknown): Answered {
  return { status, body: JSON.stringify(body) };
}

function unknownTask(task: string): LetheError {
  return new LetheError("unknown-task", `there is no task ${task}`);
}

function textOf(body: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    throw new LetheError("bad-encoding", "the body is not text in UTF-8");
  }
}

function attestationIn(body: Uint8Array): unknown {
  if (body.length === 0) return undefined;
  try {
    const found = JSON.parse(textOf(body)) as unknown;
    if (typeof found === "object" && found !== null && !Array.isArray(found)) {
      return (found as { attestation?: unknown }).attestation;
    }
  } catch {
    // Told below.
  }
  throw new LetheError("bad-encoding", 'the body is absent, or an object like {"attestation": …}');
}

function stateOf(task: Task, window: number, row: WindowRow | undefined, now: number): WindowState {
  if (row && row.state !== "collecting") return row.state;
  const phase = phaseOf(task, window, now);
  if (phase === "over") return "closed";
  if (phase === "grace") return "grace";
  return phase === "running" ? "open" : "not-open";
}

function summarize(versions: readonly TaskVersion[], now: number): unknown {
  const [first] = versions as [TaskVersion];
  return {
    task: first.manifest.task,
    operatorKey: first.manifest.servers[0]?.key,
    windowSeconds: windowSeconds(first.manifest),
    window: windowAt(first.manifest, now),
    versions: versions.map(({ manifest: { version, fromWindow, metrics } }) => ({
      version,
      fromWindow,
      metrics: metrics.length,
    })),
  };
}
