import type { Logger } from "pino";
import { z } from "zod";
import { type Database, OutOfSpace } from "../storage/database.ts";
import { findSdkFile, storeSdkFile } from "../storage/sdk-files.ts";
import { type Answered, type Route, route } from "./route.ts";
import { answerFile, FOR_EVER, type StaticFile, staticFile } from "./static-file.ts";

/** The file at the fixed name may change within five minutes; a file under its hash never changes. */
const SHORT = "public, max-age=300";
/** Versions that stay in memory beside the newest. */
const MOST_KEPT = 8;

/**
 * The SDK for pages: the one that this service came with, and all that services on the same database had before.
 * Resolves when the new one is stored; on a full disk the service starts nevertheless, and serves its own from memory.
 */
export async function sdkRoutes(database: Database, log: Logger, code: Uint8Array): Promise<Route<unknown>[]> {
  const own = fileOf(code);
  const known = new Map([[own.hash, own]]);
  try {
    await storeSdkFile(database, own.hash, code);
  } catch (error) {
    if (!(error instanceof OutOfSpace)) throw error;
    log.warn(
      { hash: own.hash },
      "no room to store the browser SDK: pages that name it may not find it after an upgrade",
    );
  }

  async function find(hash: string): Promise<StaticFile | undefined> {
    const there = known.get(hash);
    if (there) return there;
    const stored = await findSdkFile(database, hash);
    const file = stored && fileOf(stored);
    if (file && known.size <= MOST_KEPT) known.set(hash, file);
    return file;
  }

  return [
    route({
      method: "GET",
      path: "/lethe.js",
      summary:
        "The SDK for pages and workers, one ES module, as this service came with it; at its hash, it never changes",
      anyOrigin: true,
      parameters: z.strictObject({}),
      answers: DESCRIBED,
      refusals: ["bad-encoding"],
      handle: async ({ header }) => answerFile(own, { "cache-control": SHORT }, header),
    }),
    route({
      method: "GET",
      path: "/lethe-{hash}.js",
      summary: "The SDK of this hash, of this service or an earlier version of it; 404 if there was none",
      anyOrigin: true,
      parameters: z.strictObject({ hash: z.string().regex(/^[0-9a-f]{32}$/) }),
      answers: DESCRIBED,
      refusals: ["bad-encoding"],
      handle: async ({ parameters: { hash }, header }) => {
        const file = await find(hash);
        return file ? answerFile(file, { "cache-control": FOR_EVER }, header) : NOT_FOUND;
      },
    }),
  ];
}

const DESCRIBED = {
  200: { description: "the module", type: "text/javascript" },
  304: { description: "the module that If-None-Match names" },
} as const;

const NOT_FOUND: Answered = {
  status: 404,
  type: "application/problem+json",
  body: JSON.stringify({
    type: "about:blank",
    title: "Not found",
    status: 404,
    detail: "no SDK with this hash was ever served here",
  }),
};

const fileOf = (code: Uint8Array): StaticFile => staticFile(code, "text/javascript; charset=utf-8");
