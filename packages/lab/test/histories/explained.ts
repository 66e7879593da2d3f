import type { Oracle } from "./oracle.ts";
import type { LogLine } from "./services.ts";
import type { SimulatedProcess } from "./world.ts";

/** What a service may log as an error because of the faults. */
const EXPLAINED = [
  /the database does not answer|connection was lost|a database is still busy/,
  /the helper at .* (cannot be reached|answered 503)/,
];

/** Notes an error that no fault explains. */
export function noteError(oracle: Oracle, process: SimulatedProcess, { msg, reason = "", code = "" }: LogLine): void {
  if (process.isDead || EXPLAINED.some((pattern) => pattern.test(reason))) return;
  oracle.violate("a service does not fail by itself", `${process.name}: ${msg} ${code} ${reason}`);
}

/** What a device may report because of the faults. */
const EXPECTED_PROBLEMS = [
  "unreachable",
  "unknown-task",
  "window-closed",
  "window-not-open",
  "no-keys-left",
  "events-dropped",
  "budget-spent",
  "bad-store",
];

/** Notes a problem of a device that no fault explains. */
export function noteProblem(oracle: Oracle, device: string, code: string, message: string): void {
  if (!EXPECTED_PROBLEMS.includes(code))
    oracle.violate("a device has no unexpected problem", `${device}: ${code} ${message}`);
}
