import { askJson } from "./request.ts";

/** One true figure, to compare a release with. */
export interface Truth {
  readonly name: string;
  /** Of a metric with categories. */
  readonly bucket?: string;
  readonly truth: number;
}

/** The window through which the devices of a demonstration live now. */
export interface RunningWindow {
  readonly window: number;
  /** How many of its ticks are over. */
  readonly tick: number;
  /** How often each event has happened so far, on all devices together. */
  readonly events: Readonly<Record<string, number>>;
}

/** What a demonstration knows because it simulates the devices, and what no service learns. */
export interface Demonstration {
  readonly task: string;
  readonly devices: number;
  /** How many ticks a window has. */
  readonly ticks: number;
  /** Undefined before the first window has begun. */
  readonly running?: RunningWindow;
  /** What happened in the last windows that are over, oldest first. A window is here before it is released. */
  readonly windows: readonly { readonly window: number; readonly truth: readonly Truth[] }[];
}

/** What really happened on the devices of the service, which is that of a demonstration. */
export function fetchDemonstration(server: string): Promise<Demonstration> {
  return askJson(server, "/v1/demonstration");
}
