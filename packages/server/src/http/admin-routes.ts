import { LetheError } from "@lethe/core/error";
import { encodeSignedManifest, parseTask, type Task, windowAt, windowSeconds } from "@lethe/core/message";
import { z } from "zod";
import type { TaskVersion } from "../storage/tasks.ts";
import { findWindow, type WindowIdentity } from "../storage/windows.ts";
import type { ApiParts } from "./api.ts";
import { json, type Route, route, textOf } from "./route.ts";
import * as schemas from "./schemas.ts";
import type { WindowLookup } from "./window-lookup.ts";

/** What a process does for its operator. */
export interface Admin {
  readonly createTask: (task: Task) => Promise<{ version: TaskVersion; isNew: boolean }>;
  /** Closes a window before its time. */
  readonly close: (window: WindowIdentity) => Promise<void>;
  /** At a helper. */
  readonly agreements?: Agreements;
}

/** The tasks that a helper's operator agrees to, and its leader may then make. */
interface Agreements {
  /** The task as this helper will run it; undefined if it has agreed to another text of this version. */
  readonly add: (task: Task) => Promise<Task | undefined>;
  /** The agreements to tasks that the leader has not made yet. */
  readonly open: () => Promise<readonly { readonly task: string; readonly version: number }[]>;
  /** False if there is none, or the leader has made the task. */
  readonly withdraw: (task: string, version: number) => Promise<boolean>;
}

const MOST_TASK_BYTES = 1_000_000;

/** The endpoints of the operator, which need the admin token. */
export function adminRoutes(
  { database, tasks, clock }: ApiParts,
  admin: Admin,
  { requireUploadOpen, status }: WindowLookup,
): Route<unknown>[] {
  const { agreements } = admin;
  const requireRoom = (): void => database.guard?.requireRoom();
  return [
    ...(agreements ? agreementRoutes(agreements, requireRoom) : []),
    route({
      method: "GET",
      path: "/v1/tasks",
      summary: "All tasks",
      admin: true,
      parameters: z.strictObject({}),
      answers: { 200: { description: "tasks", schema: schemas.tasks } },
      refusals: ["unauthorized", "rate-limited", "bad-encoding"],
      handle: async () =>
        json(200, {
          tasks: tasks.names().map((name) => summarize(tasks.versions(name), clock.guess())),
          ...(agreements && { agreed: await agreements.open() }),
        }),
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
      refusals: ["unauthorized", "rate-limited", "bad-encoding", "wrong-size", "wrong-type", "bad-task"],
      before: requireRoom,
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
      refusals: ["unauthorized", "rate-limited", "bad-encoding", "unknown-task", "window-closed", "window-not-open"],
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

function agreementRoutes({ add, withdraw }: Agreements, requireRoom: () => void): Route<unknown>[] {
  const agreeing = route({
    method: "POST",
    path: "/v1/agreements",
    summary: "Agrees to a version of a task, which the leader may then make",
    admin: true,
    parameters: z.strictObject({}),
    body: { type: "application/json", most: MOST_TASK_BYTES, schema: schemas.task },
    answers: { 200: { description: "agreed, to the task as this helper runs it" } },
    refusals: ["unauthorized", "rate-limited", "bad-encoding", "wrong-size", "wrong-type", "bad-task"],
    before: requireRoom,
    handle: async ({ body }) => {
      const asked = parseTask(textOf(body));
      const { task, version } = asked;
      const terms = await add(asked);
      if (terms) return json(200, { task, version, terms });
      throw new LetheError(
        "bad-task",
        `version ${version} of ${task} was agreed to before and says something else: raise it`,
      );
    },
  });
  const withdrawing = route({
    method: "POST",
    path: "/v1/agreements/{task}/{version}/withdraw",
    summary: "Takes an agreement back, unless the leader has made the task",
    admin: true,
    parameters: schemas.ofVersion,
    answers: { 200: { description: "withdrawn" } },
    refusals: ["unauthorized", "rate-limited", "bad-encoding", "unknown-task"],
    handle: async ({ parameters: { task, version } }) => {
      if (await withdraw(task, version)) return json(200, { task, version });
      throw new LetheError(
        "unknown-task",
        `there is no agreement to version ${version} of ${task} to take back, or the leader has made the task`,
      );
    },
  });
  return [agreeing, withdrawing];
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
