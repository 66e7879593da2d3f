import type { WindowStatus } from "./release.ts";

/** What a process of a service does. */
export type ServiceRole = "all" | "intake" | "tally" | "leader" | "helper";

/** What a process says about itself to everybody who opens its page. */
export interface ServiceInfo {
  readonly version: string;
  readonly role: ServiceRole;
  /** Unix seconds, by the clock of the service. */
  readonly now: number;
  /** Whether releases and the states of windows need the admin token. */
  readonly privateResults: boolean;
  /** Whether the request had the admin token. */
  readonly isAdmin: boolean;
  /** Absent if results are private and the request had no admin token. */
  readonly tasks?: readonly string[];
  readonly operatorKey?: string;
  readonly hasDemonstration: boolean;
}

/** The work that waits, of all processes on one database. */
export interface OperationsBacklog {
  /** Reports that are stored and not counted yet. */
  readonly reports: number;
  /** Keys that are ready in the open window that has fewest; absent without an open window, and at a helper. */
  readonly keys?: number;
  /** Windows that are past their closing time and not released. */
  readonly windows: number;
}

/** How far a task is. */
export interface TaskOperations {
  readonly task: string;
  /** In force in the running window. */
  readonly version: number;
  readonly windowSeconds: number;
  /** The oldest window that is not finished, and when it closes, in Unix seconds. */
  readonly nextRelease: { readonly window: number; readonly at: number } | null;
  /** The next, all that are not finished, and the last finished ones; newest first. */
  readonly windows: readonly WindowStatus[];
}

/** Everything that a live view of a process shows to its admin. */
export interface Operations {
  /** Unix seconds, by the clock of the service. */
  readonly now: number;
  readonly role: ServiceRole;
  readonly version: string;
  /** True, or in one line why the service is not ready. */
  readonly ready: true | string;
  /** While it is, nothing is closed, released or erased. */
  readonly clockInDoubt: boolean;
  /** Absent if the database does not answer. */
  readonly backlog?: OperationsBacklog;
  /** Of an embedded database. */
  readonly disk?: { readonly freeBytes: number; readonly isLow: boolean };
  /** Of a leader: its helper, at most 5 s ago, and in one line how it is. */
  readonly helper?: { readonly url: string; readonly answers: boolean; readonly detail: string };
  readonly tasks: readonly TaskOperations[];
}
