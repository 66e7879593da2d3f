import { posix } from "node:path";
import type { ServiceInfo, ServiceRole } from "@lethe/core/message";
import { z } from "zod";
import { findOperator } from "../storage/operator.ts";
import type { ApiParts } from "./api.ts";
import { json, type Route, route } from "./route.ts";
import * as schemas from "./schemas.ts";
import { answerFile, FOR_EVER, type StaticFile, staticFile } from "./static-file.ts";

/** What the page learns about the process that serves it. */
export interface ConsoleParts extends ApiParts {
  readonly version: string;
  readonly role: ServiceRole;
  readonly privateResults: boolean;
  /** What really happened in finished windows, which only a demonstration knows; JSON. */
  readonly demonstration?: (() => unknown) | undefined;
}

const INDEX = "/index.html";
const ASSETS = "/assets/";

/** The types of the files that a page is built of. */
const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** The page loads nothing from another origin, runs no inline script, and cannot be framed. */
const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
    "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
};

/**
 * The files of the console: `/` and every file at its path. Throws a `RangeError` if a file has a path or a type that
 * cannot be served.
 */
export function consoleFileRoutes(files: ReadonlyMap<string, Uint8Array>): Route<unknown>[] {
  const routes = [...files].map(([path, bytes]) => fileRoute(path, fileOf(path, bytes), { isHidden: true }));
  const index = files.get(INDEX);
  if (!index) throw new RangeError(`the console has no ${INDEX}`);
  return [fileRoute("/", fileOf(INDEX, index)), ...routes];
}

function fileOf(path: string, bytes: Uint8Array): StaticFile {
  const type = TYPES[posix.extname(path)];
  // Colons, stars and braces mean something else in the path of a route.
  if (!/^(\/[\w.-]+)+$/.test(path) || type === undefined) throw new RangeError(`the console has a file ${path}`);
  return staticFile(bytes, type);
}

function fileRoute(path: string, file: StaticFile, hidden: { readonly isHidden?: true } = {}): Route<unknown> {
  const caching = path.startsWith(ASSETS) ? FOR_EVER : "no-cache";
  return route({
    method: "GET",
    path,
    summary: "The console: results, budgets and operations, as a page for people",
    ...hidden,
    // The address of a view may have parameters, which only the page reads.
    parameters: z.object({}),
    answers: {
      200: { description: "the page", type: "text/html" },
      304: { description: "the page that If-None-Match names" },
    },
    refusals: [],
    handle: async ({ header }) => answerFile(file, { ...HEADERS, "cache-control": caching }, header),
  });
}

/** What the page asks first, and what a demonstration tells it. */
export function consoleRoutes(parts: ConsoleParts): Route<unknown>[] {
  const { database, tasks, clock, version, role, privateResults, demonstration } = parts;
  let operatorKey: string | undefined;
  const about = route({
    method: "GET",
    path: "/v1/console",
    summary: "What the console shows first: this process, its clock, and the names of its tasks",
    parameters: z.strictObject({}),
    answers: { 200: { description: "this process", schema: schemas.console } },
    refusals: ["bad-encoding", "rate-limited"],
    handle: async ({ isAdmin }) => {
      operatorKey ??= await findOperator(database);
      const admin = isAdmin();
      const info: ServiceInfo = {
        version,
        role,
        now: clock.guess(),
        privateResults,
        isAdmin: admin,
        ...((admin || !privateResults) && { tasks: tasks.names() }),
        ...(operatorKey !== undefined && { operatorKey }),
        hasDemonstration: demonstration !== undefined,
      };
      return json(200, info);
    },
  });
  return demonstration ? [about, demonstrationRoute(demonstration)] : [about];
}

function demonstrationRoute(demonstration: () => unknown): Route<unknown> {
  return route({
    method: "GET",
    path: "/v1/demonstration",
    summary: "What really happened in the windows of a demonstration, whose devices are simulated",
    parameters: z.strictObject({}),
    answers: { 200: { description: "as the demonstration has it" } },
    refusals: ["bad-encoding"],
    handle: async () => json(200, demonstration()),
  });
}
