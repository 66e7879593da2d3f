import { LetheError } from "@lethe/core/error";
import type { ProblemCode } from "@lethe/core/message";
import { z } from "zod";
import { fetchHelperRelease } from "../leader/helper-release.ts";
import type { Database } from "../storage/database.ts";
import { findRelease, findReleases } from "../storage/releases.ts";
import { findWindow } from "../storage/windows.ts";
import { json, type Route, route } from "./route.ts";
import * as schemas from "./schemas.ts";
import type { WindowLookup } from "./window-lookup.ts";

/** What a route says if only the admin may see results. */
export interface ResultsAccess {
  readonly admin?: true;
  readonly refusals: readonly ProblemCode[];
}

/** Who may see results: everybody, or the admin. */
export function resultsAccess(isPrivate: boolean): ResultsAccess {
  return isPrivate ? { admin: true, refusals: ["unauthorized", "rate-limited"] } : { refusals: [] };
}

/** The endpoints for everybody, or for the admin if results are private: releases, and the state of a window. */
export function releaseRoutes(
  database: Database,
  { firstVersion, status }: WindowLookup,
  { refusals, ...access }: ResultsAccess,
): Route<unknown>[] {
  return [
    route({
      method: "GET",
      path: "/v1/tasks/{task}/releases",
      summary: "Releases of a task, newest first",
      ...access,
      parameters: schemas.ofTask.extend({
        limit: z
          .string()
          .regex(/^([1-9]\d?|100)$/)
          .default("10"),
        before: schemas.windowNumber.optional(),
      }),
      answers: { 200: { description: "releases", schema: schemas.releases } },
      refusals: [...refusals, "bad-encoding", "unknown-task"],
      handle: async ({ parameters: { task, limit, before = Number.MAX_SAFE_INTEGER } }) => {
        firstVersion(task);
        const documents = await findReleases(database, task, { before, limit: Number(limit) });
        return { status: 200, body: `{"releases":[${documents.join(",")}]}` };
      },
    }),
    route({
      method: "GET",
      path: "/v1/tasks/{task}/releases/{window}",
      summary: "The release of a window",
      ...access,
      parameters: schemas.ofWindow,
      answers: { 200: { description: "the release, or why there is none", schema: schemas.published } },
      refusals: [...refusals, "bad-encoding", "unknown-task", "window-closed", "window-not-open"],
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
      ...access,
      parameters: schemas.ofWindow,
      answers: { 200: { description: "the window", schema: schemas.windowStatus } },
      refusals: [...refusals, "bad-encoding", "unknown-task", "window-closed"],
      handle: async ({ parameters }) => json(200, await status(parameters)),
    }),
  ];
}

/**
 * The endpoint of a leader that passes on what its helper has published, which the helper has signed: the console may
 * ask no other origin than its own.
 */
export function helperReleaseRoute(url: string, { refusals, ...access }: ResultsAccess): Route<unknown> {
  return route({
    method: "GET",
    path: "/helper/v1/tasks/{task}/releases/{window}",
    summary: "What the helper of this leader has published about a window, as the helper sent it",
    ...access,
    parameters: schemas.ofWindow,
    answers: { 200: { description: "the helper's share, or why there is none", schema: schemas.published } },
    refusals: [...refusals, "bad-encoding", "unknown-task", "window-closed", "window-not-open"],
    handle: async ({ parameters }) => ({ status: 200, body: await fetchHelperRelease(url, parameters) }),
  });
}
