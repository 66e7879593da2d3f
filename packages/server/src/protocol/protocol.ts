/**
 * The server's side of a task, the mirror image of `DeviceProtocol` in core. Tasks of one server and of two are two
 * implementations of `ServerProtocol`. `protocolOf` picks one; intake, rounds and release never ask which. The
 * two-server implementation is the leader's, because a helper only answers its leader (`helper/`). This folder may
 * import `leader`, `between`, `release`, `tally` and `storage`. Start reading here, then `one-server.ts`.
 */

import type { Secret } from "@lethe/core/encryption";
import type { SignedPublicKeys } from "@lethe/core/message";
import type { Helper } from "../leader/client.ts";
import type { Published } from "../release/release.ts";
import type { Database } from "../storage/database.ts";
import type { Place } from "../storage/place.ts";
import type { Bundle, SpareDevice } from "../storage/spare-keys.ts";
import type { TaskVersion, TwoServerTask } from "../storage/tasks.ts";
import type { WindowRow } from "../storage/windows.ts";
import type { CountingParts } from "../tally/batches.ts";
import { oneServer } from "./one-server.ts";
import { twoServer } from "./two-server.ts";

/** What a process has that holds the keys. */
export interface KeyHolder extends CountingParts {
  /** At a leader. */
  readonly helper?: Helper | undefined;
}

/** What a service does for a task with keys, reports and the release. It differs between one server and two. */
export interface ServerProtocol {
  /** Throws unless these bytes have the form of a report of this task. Only what everybody can see is checked. */
  requireReport(body: Uint8Array): void;
  /** The keys that an enrolled device gets, with the role of the server that signed them, from an entry of the pool. */
  keysOf(spare: Pick<SpareDevice, "publicKeys" | "signature">): readonly SignedPublicKeys[];
  /** A bundle of the pool for `count` devices to come, which belong to this place. */
  issueKeys(
    parts: Pick<KeyHolder, "database" | "threads" | "keyFile" | "helper">,
    window: WindowRow,
    windowSecret: Secret<Uint8Array>,
    count: number,
    place: Place,
  ): Promise<Bundle>;
  /** Opens and counts the reports that a database has of a window, each once, until none is left or `isPaused`. */
  count(parts: KeyHolder, database: Database, window: WindowRow, isPaused: () => boolean): Promise<void>;
  /**
   * Publishes the result of a closed window, once. Undefined while there is more to count, or if another process has
   * published it.
   */
  finish(parts: KeyHolder, windowId: number, at: number): Promise<Published | undefined>;
  /** Whether this error, of one of the three functions above, means that the window can never be counted. */
  isLost(database: Database, windowId: number, error: unknown): Promise<boolean>;
}

const protocols = new WeakMap<TaskVersion, ServerProtocol>();

/** The protocol of a task, the same one every time: each report asks for it. */
export function protocolOf(task: TaskVersion): ServerProtocol {
  const known = protocols.get(task);
  if (known) return known;
  const made = task.mode === "two-server" ? twoServer(task) : oneServer(task);
  protocols.set(task, made);
  return made;
}

/** The task, if two servers count it: a helper has no other tasks. */
export function twoServerTask(task: TaskVersion | undefined): TwoServerTask | undefined {
  return task?.mode === "two-server" ? task : undefined;
}
