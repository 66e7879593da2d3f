import { LetheError } from "@lethe/core/error";
import { encodeSignedManifest, parseTask, type Task } from "@lethe/core/message";
import { z } from "zod";
import type { TaskVersion } from "../storage/tasks.ts";
import { findWindow, type WindowIdentity } from "../storage/windows.ts";
import { windowAt, windowSeconds } from "../window-time.ts";
import type { ApiParts } from "./api.ts";
import { json, type Route, route, textOf } from "./route.ts";
import * as schemas from "./schemas.ts";
import type { WindowLookup } from "./window-lookup.ts";

/** What the operator can ask for. */
export interface Admin {
  readonly createTask: (task: Task) => Promise<{ version: TaskVersion; isNew: boolean }>;
  /** Closes a window before its time. */
  readonly close: (window: WindowIdentity) => Promise<void>;
  /** Of a helper: agrees to a task that its leader may then make; false if it has agreed to another text. */
  readonly agree?: (task: Task) => Promise<boolean>;
}

const MOST_TASK_BYTES = 1_000_000;

/** What the operator asks, with the admin token. */
export function adminRoutes(
  { database, tasks, now }: ApiParts,
  admin: Admin,
  { requireUploadOpen, status }: WindowLookup,
): Route<unknown>[] {
  const { agree } = admin;
  return [
    ...(agree ? [agreementRoute(agree)] : []),
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
        const { version, isNew } = await admin.createTask(parseTask(textOf(body)));
        return { status: isNew ? 201 : 200, body: encodeSignedManifest(version.signed) };
      },
    }),
    route({
      method: "POST",
      path: "/v1/tasks/{task}/windows/{window}/close",
      summary: "Closes a window before its time",
      admin: true,
      parameters: schemas.ofWindow,
      answers: { 200: { description: "the window, closed", schema: schemas.windowStatus } },
      refusals: ["unauthorized", "bad-encoding", "unknown-task", "window-closed", "window-not-open"],
      before: requireUploadOpen,
      handle: async ({ parameters }) => {
        const window = await findWindow(database, parameters.task, parameters.window);
        if (!window) throw new LetheError("window-not-open", "the window is being prepared: try again in a moment");
        await admin.close(window);
        return json(200, await status(parameters));
      },
    }),
  ];
}

function agreementRoute(agree: (task: Task) => Promise<boolean>): Route<unknown> {
  return route({
    method: "POST",
    path: "/v1/agreements",
    summary: "Agrees to a version of a task, which the leader may then make",
    admin: true,
    parameters: z.strictObject({}),
    body: { type: "application/json", most: MOST_TASK_BYTES, schema: schemas.task },
    answers: { 200: { description: "agreed" } },
    refusals: ["unauthorized", "bad-encoding", "wrong-size", "wrong-type", "bad-task"],
    handle: async ({ body }) => {
      const task = parseTask(textOf(body));
      if (task.mode !== "two-server") throw new LetheError("bad-task", "mode is two-server where there is a helper");
      if (await agree(task)) return json(200, { task: task.task, version: task.version });
      throw new LetheError(
        "bad-task",
        `version ${task.version} of ${task.task} was agreed to before and says something else: raise it`,
      );
    },
  });
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
