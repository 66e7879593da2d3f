import { readFileSync } from "node:fs";
import { uptime } from "node:os";

/** The clocks of a machine, in seconds. */
export interface MachineTime {
  /** Since 1970. It jumps when somebody sets the clock. */
  wall(): number;
  /** Nobody sets it, but on Linux it stands still while the machine sleeps. */
  monotonic(): number;
  /** Since the machine started, sleep included. Takes some microseconds to read. */
  uptime(): number;
  /**
   * An id that changes with every boot; null where the system has none. The two values above only continue within one
   * boot.
   */
  readonly boot: string | null;
}

/** The clocks of the machine that this process runs on. */
export function machineTime(): MachineTime {
  return {
    wall: () => Date.now() / 1000,
    monotonic: () => Number(process.hrtime.bigint()) / 1e9,
    uptime,
    boot: bootId(),
  };
}

function bootId(): string | null {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return null;
  }
}
