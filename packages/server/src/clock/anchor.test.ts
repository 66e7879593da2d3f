import { describe, expect, it } from "vitest";
import { anchorAt, anchorHere, readClock } from "./anchor.ts";
import type { MachineTime } from "./machine-time.ts";

const NOON = Date.UTC(2026, 0, 1, 12) / 1000;
const DAYS = 86_400;

/** A machine that was started an hour ago, and on which time passes when told. */
function createMachine(boot: string | null = "first"): MachineTime & {
  pass(seconds: number): void;
  sleep(seconds: number): void;
  set(seconds: number): void;
} {
  let [wall, monotonic, uptime] = [NOON, 3600, 3600];
  const sleep = (seconds: number): void => {
    wall += seconds;
    uptime += seconds;
  };
  return {
    boot,
    wall: () => wall,
    monotonic: () => monotonic,
    uptime: () => uptime,
    sleep,
    pass: (seconds) => {
      sleep(seconds);
      monotonic += seconds;
    },
    set: (seconds) => {
      wall += seconds;
    },
  };
}

describe("a process that runs", () => {
  it.each([
    [60, true],
    [61, false],
    [-60, true],
    [-61, false],
    [3 * DAYS, false],
  ])("believes a clock that was set by %i s: %s", (seconds, isRight) => {
    const machine = createMachine();
    const anchor = anchorHere(machine);
    machine.pass(1000);
    machine.set(seconds);
    expect(readClock(anchor, machine)).toEqual({
      wall: NOON + 1000 + seconds,
      expected: NOON + 1000,
      isRight,
    });
  });

  it("believes a clock that went on while the machine slept or the process stood still", () => {
    for (const gone of ["sleep", "pass"] as const) {
      const machine = createMachine();
      const anchor = anchorHere(machine);
      machine[gone](3 * DAYS);
      expect(readClock(anchor, machine)).toMatchObject({ expected: NOON + 3 * DAYS, isRight: true });
      machine.set(61);
      expect(readClock(anchor, machine)).toMatchObject({ expected: NOON + 3 * DAYS, isRight: false });
    }
  });
});

describe("a process that starts", () => {
  const stored = (before: number, boot: string | null) => ({
    wall: NOON - before,
    monotonic: 3600 - before,
    uptime: 3600 - before,
    boot,
  });
  const isRight = (before: number, boot: string | null, anyGap = false): boolean => {
    const machine = createMachine();
    return readClock(anchorAt(stored(before, boot), machine, anyGap), machine).isRight;
  };

  it("knows how long it was off, if the machine ran on", () => {
    const machine = createMachine();
    const anchor = anchorAt({ ...stored(0, "first"), wall: NOON - 61 }, machine, false);
    expect(readClock(anchor, machine).isRight).toBe(false);
    expect(isRight(3 * DAYS, "first")).toBe(true);
  });

  it("believes after another start of the machine, or elsewhere, that it was off for a day; in development for any time", () => {
    for (const boot of ["second", null]) {
      expect(isRight(DAYS, boot)).toBe(true);
      expect(isRight(DAYS + 1, boot)).toBe(false);
      expect(isRight(1000 * DAYS, boot, true)).toBe(true);
      expect(isRight(-60, boot)).toBe(true);
      expect(isRight(-61, boot)).toBe(false);
      expect(isRight(-61, boot, true)).toBe(false);
    }
  });

  it("where starts of a machine have no name, or its clocks started again under the same, relies on none of them", () => {
    const nameless = createMachine(null);
    expect(anchorAt(stored(3 * DAYS, null), nameless, false).isCounted).toBe(false);
    expect(anchorAt(stored(-1, "first"), createMachine(), false).isCounted).toBe(false);
  });
});
