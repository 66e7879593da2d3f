import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { windowSeconds } from "@lethe/core/message";
import { temporaryFolder } from "./folder.ts";

const PRELOADED = fileURLToPath(new URL("shift-clock.cjs", import.meta.url));

/** The clock of a process that runs: the machine's and some seconds. Nothing else of the process is changed. */
export interface ShiftedClock {
  /** What starts a process with this clock. */
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** As the process reads it, seconds since 1970. */
  now(): number;
  /** Ahead by this many seconds, or back. */
  jump(seconds: number): void;
}

/** Begins with a window of this task, so that a test has all of it. */
export function createShiftedClock(task: { readonly ticks: number; readonly tickSeconds: number }): ShiftedClock {
  const file = join(temporaryFolder(), "shift");
  const length = windowSeconds(task);
  let shift = length - ((Date.now() / 1000) % length);
  const write = (): void => {
    // Whole, whenever it is read.
    writeFileSync(`${file}.new`, String(shift));
    renameSync(`${file}.new`, file);
  };
  write();
  return {
    arguments: ["--require", PRELOADED],
    environment: { LETHE_TEST_CLOCK_SHIFT: file },
    now: () => Date.now() / 1000 + shift,
    jump: (seconds) => {
      shift += seconds;
      write();
    },
  };
}
