import { readdirSync, readFileSync } from "node:fs";
import type { Server } from "node:http";
import type { Logger } from "pino";

/**
 * Files that the service may open later: of its database, of its key file, connections to PostgreSQL or to a helper.
 */
const RESERVED = 128;
const LEAST_CONNECTIONS = 16;
const LOGGED_EVERY_MS = 60_000;

/**
 * Leaves file descriptors for the service's own files: clients get what the limit on open files leaves, and more are
 * turned away at once. This is logged, at most once per minute. Without this, the system would drop connections in
 * silence, and the database would fail.
 */
export function limitConnections(server: Server, log: Logger): void {
  const most = mostConnections();
  if (most !== undefined) server.maxConnections = most;
  let refused = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  const refuse = (code: string | undefined): void => {
    refused++;
    if (performance.now() - loggedAt < LOGGED_EVERY_MS) return;
    loggedAt = performance.now();
    const limits = { ...(most !== undefined && { most }), ...(code !== undefined && { code }) };
    log.warn({ refused, ...limits }, "out of file descriptors for connections, some were refused: raise ulimit -n");
  };
  server.on("drop", () => refuse(undefined));
  // With no descriptor left at all, a connection cannot even be accepted.
  server.on("error", (error: NodeJS.ErrnoException) => refuse(error.code));
}

/** How many connections leave enough descriptors; undefined where the system does not say, as on macOS and Windows. */
function mostConnections(): number | undefined {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    const isOpen = readdirSync("/proc/self/fd").length;
    return limit === undefined ? undefined : Math.max(LEAST_CONNECTIONS, Number(limit) - isOpen - RESERVED);
  } catch {
    return undefined;
  }
}
