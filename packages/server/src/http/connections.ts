import { readdirSync, readFileSync } from "node:fs";
import type { Server } from "node:http";
import type { Logger } from "pino";

/**
 * Files that the service may open later: of its database, of its key file, connections to PostgreSQL or to a helper.
 */
const RESERVED = 128;
const LEAST_CONNECTIONS = 16;
/** Whatever the system allows: each takes about 10 kB of memory. */
const MOST_CONNECTIONS = 20_000;
const LOGGED_EVERY_MS = 60_000;

/**
 * Leaves file descriptors for the service's own files, and memory: clients get what the limit on open files leaves, at
 * most 20,000 connections, and more are turned away at once. This is logged, at most once per minute. Without this, the
 * system would drop connections in silence, and the database would fail. While more than half are in use, a connection
 * is closed after its next answer, so that clients that have been served make room for others.
 */
export function limitConnections(server: Server, log: Logger): void {
  const most = mostConnections();
  server.maxConnections = most;
  let open = 0;
  server.on("connection", (socket) => {
    open++;
    socket.once("close", () => open--);
  });
  server.prependListener("request", (_request, response) => {
    if (open > most / 2) response.shouldKeepAlive = false;
  });
  let refused = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  const refuse = (code: string | undefined): void => {
    refused++;
    if (performance.now() - loggedAt < LOGGED_EVERY_MS) return;
    loggedAt = performance.now();
    const why =
      most < MOST_CONNECTIONS || code !== undefined
        ? "out of file descriptors for connections, some were refused: raise ulimit -n"
        : "too many connections for one process, some were refused: start another intake";
    log.warn({ refused, most, ...(code !== undefined && { code }) }, why);
  };
  server.on("drop", () => refuse(undefined));
  // With no descriptor left at all, a connection cannot even be accepted.
  server.on("error", (error: NodeJS.ErrnoException) => refuse(error.code));
}

/** How many connections leave enough descriptors. Some systems, as macOS and Windows, do not say. */
function mostConnections(): number {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    const isOpen = readdirSync("/proc/self/fd").length;
    const left = limit === undefined ? MOST_CONNECTIONS : Number(limit) - isOpen - RESERVED;
    return Math.min(MOST_CONNECTIONS, Math.max(LEAST_CONNECTIONS, left));
  } catch {
    return MOST_CONNECTIONS;
  }
}
