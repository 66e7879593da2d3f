import type { Manifest } from "@lethe/core/message";
import type { Stored } from "./watched-store.ts";

/** A device with the SDK that runs in this page. */
export interface RunningDevice {
  /** Names of the events that can be recorded. */
  readonly events: readonly string[];
  /** Records an event. Returns why it was not counted, if it was not. */
  record(name: string): string | undefined;
  /** What its store has; undefined before the first write, and after it was wiped. */
  stored(): Stored | undefined;
  /** Whether events are counted now. */
  isCounting(): boolean;
  /** Wipes what it stored, and ends. */
  wipe(): Promise<void>;
  /** Ends when the view is left. */
  close(): Promise<void>;
}

/** A device whose time the page makes. */
export interface LocalDevice extends RunningDevice {
  /** Ticks of a window, and how many of them have passed. */
  readonly ticks: number;
  passed(): number;
  /** Lets a tick pass; resolves when the store has what was written. False if another tab has wiped the device. */
  tick(): Promise<boolean>;
}

/** A device of a task of the service, in real time. */
export interface JoinedDevice extends RunningDevice {
  readonly manifest: Manifest;
  /** What the SDK reported last. */
  problem(): string | undefined;
}
