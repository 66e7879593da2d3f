import type { RunningWindow } from "@lethe/analyst";

/** How far a fleet is in its window. */
export interface FleetProgress extends RunningWindow {
  /** How many devices have reported. */
  readonly received: number;
}

/** Counts what the devices of a fleet do in a window. */
export interface ProgressCounter {
  happened(event: string): void;
  /** A tick is over on one of the devices. */
  ticked(): void;
  reported(): void;
}

/**
 * Adds up what devices do that live side by side, each by its own clock, from the tick `first` on. Calls `watch` whenever
 * something but an event has happened.
 */
export function countProgress(
  about: { readonly window: number; readonly devices: number; readonly first: number },
  names: readonly string[],
  watch: (progress: FleetProgress) => void,
): ProgressCounter {
  const { window, devices, first } = about;
  const events = Object.fromEntries(names.map((name) => [name, 0]));
  let [ticks, received] = [0, 0];
  const report = (): void =>
    watch({ window, tick: first + Math.floor(ticks / devices), received, events: { ...events } });
  report();
  return {
    happened: (event) => {
      events[event] = (events[event] ?? 0) + 1;
    },
    ticked: () => {
      ticks++;
      report();
    },
    reported: () => {
      received++;
      report();
    },
  };
}
