import type { Logger } from "pino";
import { Unavailable } from "../storage/database.ts";

/** What a process holds at once: requests that are not answered, and bytes of their bodies. */
interface Held {
  requests: number;
  bytes: number;
}

/** About 250 MB, with what Node keeps for each request. */
const MOST: Readonly<Held> = { requests: 12_000, bytes: 96_000_000 };
/** A task alone gets two thirds of the room, and each of n tasks that want all of it gets 2 of 2n + 1 parts. */
const SHARE = 2;
const LOGGED_EVERY_MS = 60_000;

/** The room for requests in a process. */
export interface Room {
  /**
   * Lets a request of this task in, before its body is read, or throws `Unavailable`. The function that it returns
   * makes the room free again, once.
   */
  enter(task: string, bytes: number): () => void;
}

/**
 * Limits the requests in progress of a process, and the bytes of their bodies. All that waits inside, for the database,
 * for keys, for threads, belongs to one of these requests: so this one limit bounds every queue and the memory, whatever
 * happens to the database. What is too much gets 503 at once, and comes back later.
 *
 * The room is shared by dynamic thresholds (Choudhury and Hahne 1998): a task may hold twice as much as is free. Some
 * room is free at any time, so that a flood of one task does not shut out another. The last request that is let in may
 * exceed the limit by its own body.
 */
export function createRoom(log: Logger, most: Readonly<Held> = MOST): Room {
  const tasks = new Map<string, Held>();
  const all: Held = { requests: 0, bytes: 0 };
  let refused = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;

  function noteRefusal(task: string): void {
    refused++;
    if (performance.now() - loggedAt < LOGGED_EVERY_MS) return;
    loggedAt = performance.now();
    log.warn({ task, refused, ...all }, "too many requests wait for the database, some were refused with 503");
  }

  return {
    enter: (task, bytes) => {
      const held = tasks.get(task) ?? { requests: 0, bytes: 0 };
      if ((["requests", "bytes"] as const).some((kind) => held[kind] >= SHARE * (most[kind] - all[kind]))) {
        noteRefusal(task);
        throw new Unavailable("the service has more to do than it can: try again later");
      }
      const add = (sign: 1 | -1): void => {
        for (const each of [held, all]) {
          each.requests += sign;
          each.bytes += sign * bytes;
        }
      };
      add(1);
      tasks.set(task, held);
      let isInside = true;
      return () => {
        if (!isInside) return;
        isInside = false;
        add(-1);
        if (held.requests === 0) tasks.delete(task);
      };
    },
  };
}
