import type { LetheError } from "@lethe/core/device";
import type { Counting } from "../writer/state.ts";

/**
 * This folder keeps the record: in memory (memory.ts) or in IndexedDB (indexed-db.ts, with database.ts, version.ts for
 * its slots, and tabs.ts for the other tabs). node/ has a store in files. The folder imports core and the types of
 * writer/. Start reading here.
 *
 * A device keeps one record: all windows it is enrolled in, with ciphertexts or a sealed report. An intruder who opens
 * the device sees every version of it that the medium kept, with the times they were written.
 */
export interface Store {
  /**
   * Resolves when this is the only writer, with what ends that again; undefined once `signal` is aborted. Of several
   * tabs or processes one writes at a time, the others wait for it to end, however it ends.
   *
   * When another tab or process calls `wipe`, the store calls `onWithdrawn` of the one that writes and of those that
   * wait. It aborts the signal, and resolves when nothing is in progress and the lock is released.
   *
   * With `reportsHolder`, the store calls `onProblem` once it knows that another living one writes.
   */
  lock(
    signal: AbortSignal,
    onWithdrawn?: () => Promise<void> | undefined,
    onProblem?: (problem: LetheError) => void,
  ): Promise<(() => Promise<void>) | undefined>;
  /**
   * Whether `lock` itself reports that events are dropped because another one writes. If not, and without `tabs`,
   * `openLethe` reports that when it has waited for 250 ms.
   */
  readonly reportsHolder?: boolean;
  /** The last record that was saved. Undefined if there is none. Called by the writer only. */
  load(): Promise<Uint8Array | undefined>;
  /**
   * Replaces the record, all or nothing; calls take effect in the order they were made. The write is in progress when
   * the call returns: a page that closes has no time to wait. With `durable`, it has reached the disk when this
   * resolves. With `leaving`, the page may be gone in a moment: a store does whatever keeps a write that nobody waits
   * for.
   *
   * A save that fails or stops half-way leaves the version before it.
   */
  save(record: Uint8Array, how: { readonly durable: boolean; readonly leaving?: boolean }): Promise<void>;
  /**
   * Ends all others that write or wait to write, then removes the record: none of them saves once this has resolved.
   * Called by one that neither writes nor waits.
   */
  wipe(): Promise<void>;
  /**
   * How those that wait hand events to the one that writes. Absent where they cannot: then their events are dropped.
   */
  readonly tabs?: Tabs;
  /**
   * Reads and replaces what all tasks that share this place have spent: alone among tabs, processes and tasks, with its
   * own lock. `change` gets what is stored, and returns what replaces it, or undefined to leave it. Resolves when
   * the disk has that. `wipe` does not touch it. If a store has no such place, it is in IndexedDB, once for the origin;
   * where that is missing too, no report of a task with a budget is sent.
   */
  budget?(change: (stored: Uint8Array | undefined) => Uint8Array | undefined, signal: AbortSignal): Promise<void>;
  /** After this nothing else is called. */
  close(): Promise<void>;
}

/**
 * Between the tabs of one origin. An event that was handed over is kept by the sender until the writer has folded it
 * in.
 */
export interface Tabs {
  /** For one that waits: hands an event to the writer, synchronously; kept until the writer says that it has it. */
  forward(name: string, times: number): void;
  /**
   * For the writer: called with every event that others hand over, and with the writer's own events that nobody took
   * before it became the writer.
   */
  receive(onEvent: (name: string, times: number) => void): void;
  /** For the writer: announces to those that wait, now and later, which window counts their events. */
  announce(counting: Counting): void;
  /** For one that waits: called when the writer counts. */
  listen(onCounting: (counting: Counting) => void): void;
  /** For the writer, before its last write: what comes from now on is left for the next one. Drops what is kept. */
  stop(): void;
}
