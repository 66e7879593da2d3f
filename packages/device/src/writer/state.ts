import type { Budget, LetheErrorCode, Randomness } from "@lethe/core/device";
import type { LetheError } from "@lethe/core/error";
import type { KnownTask, Service, ServiceOptions } from "../service.ts";
import type { Store } from "../store/store.ts";
import type { DeviceWindow } from "./window.ts";

/** The window that events are counted in, and when it ends, as Unix time in milliseconds. */
export interface Counting {
  readonly window: number;
  readonly until: number;
}

/** What a writer writes to, asks and tells. */
export interface WriterOptions extends ServiceOptions {
  readonly store: Store;
  /** Of the application; the task's holds beside it. */
  readonly budget?: Budget | undefined;
  readonly random: Randomness;
  readonly onProblem: (error: LetheError) => void;
  /** For what an event causes. It goes to the application only: a log of it would be a log of events. */
  readonly onDropped: (error: LetheError) => void;
  /** Events count from now on. */
  readonly onCounting: (counting: Counting) => void;
  /** Once it is aborted, nothing is asked and nothing is written, except for the last write of `close`. */
  readonly signal: AbortSignal;
}

/** When something is tried next, as Unix time in milliseconds, and how often it has failed. */
export interface Attempt {
  at: number;
  failures: number;
}

/** Everything that the one that writes has in memory. The functions of this folder share it. */
export interface WriterState extends WriterOptions {
  readonly service: Service;
  /** Every window that the device is enrolled in and has not reported. */
  windows: DeviceWindow[];
  /** The last window that it enrolled in; -1 before the first. */
  last: number;
  /** The newest version of the task. */
  known: KnownTask | undefined;
  /** What the store got last. */
  stored: Uint8Array | undefined;
  /** The save in progress, or the last one. */
  saved: Promise<void> | undefined;
  /** Windows whose sealed report the store has for good. */
  readonly safe: WeakSet<DeviceWindow>;
  /** When each sealed report is sent. */
  readonly uploads: Map<DeviceWindow, Attempt>;
  /** When the device enrols next. */
  readonly enrolment: Attempt;
  /** When this session still writes besides ticks, as Unix time in milliseconds; unset until it counts. */
  moments: number[] | undefined;
  /** Messages of problems since something last worked. */
  readonly reported: Set<string>;
  /** Codes of what events caused since the last write. */
  readonly segment: Set<LetheErrorCode>;
}
