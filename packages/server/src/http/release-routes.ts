import { LetheError } from "@lethe/core/error";
import { z } from "zod";
import type { Database } from "../storage/database.ts";
import { findRelease, findReleases } from "../storage/releases.ts";
import { findWindow } from "../storage/windows.ts";
import { json, type Route, route } from "./route.ts";
import * as schemas from "./schemas.ts";
import type { WindowLookup } from "./window-lookup.ts";

/** The endpoints for everybody: releases, and the state of a window. */
export function releaseRoutes(database: Database, { firstVersion, status }: WindowLookup): Route<unknown>[] {
  return [
    route({
      method: "GET",
      path: "/v1/tasks/{task}/releases",
      summary: "Releases of a task, newest first",
      parameters: schemas.ofTask.extend({
        limit: z
          .string()
          .regex(/^([1-9]\d?|100)$/)
          .default("10"),
        before: schemas.windowNumber.optional(),
      }),
      answers: { 200: { description: "releases", schema: schemas.releases } },
      refusals: ["bad-encoding", "unknown-task"],
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
      parameters: schemas.ofWindow,
      answers: { 200: { description: "the release, or why there is none", schema: schemas.published } },
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
      parameters: schemas.ofWindow,
      answers: { 200: { description: "the window", schema: schemas.windowStatus } },
      refusals: ["bad-encoding", "unknown-task", "window-closed"],
      handle: async ({ parameters }) => json(200, await status(parameters)),
    }),
  ];
}
