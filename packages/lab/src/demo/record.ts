import type { Demonstration, RunningWindow, Truth } from "@lethe/analyst";

/** As many windows as the console shows at most. */
const MOST_WINDOWS = 90;

/** Keeps what a demonstration knows about its devices, for its console. */
export interface DemoRecord {
  /** All of it, as it is now. */
  current(): Demonstration;
  /** The running window has got further. */
  watch(running: RunningWindow): void;
  /** A window is over. Call this before it is released, so that nobody sees a release without its truth. */
  addTruth(window: number, truth: readonly Truth[]): void;
}

/** A record without windows. Calls `onChange` at once, and after every change. */
export function createRecord(
  about: Pick<Demonstration, "task" | "devices" | "ticks">,
  onChange: (current: Demonstration) => void = () => {},
): DemoRecord {
  let current: Demonstration = { ...about, windows: [] };
  onChange(current);
  const change = (changes: Partial<Demonstration>): void => {
    current = { ...current, ...changes };
    onChange(current);
  };
  return {
    current: () => current,
    watch: (running) => change({ running }),
    addTruth: (window, truth) => change({ windows: [...current.windows.slice(1 - MOST_WINDOWS), { window, truth }] }),
  };
}
