/** A report that was refused with one of these is never taken: to send it again is of no use. */
const FINAL_CODES = [
  "bad-encoding",
  "unauthorized",
  "unknown-device",
  "report-differs",
  "window-closed",
  "wrong-size",
  "wrong-type",
] as const;
const OTHER_CODES = ["unknown-task", "bad-task", "window-not-open", "rate-limited", "no-keys-left"] as const;

/**
 * The refusals that clients of a service see; the other error codes stay inside. `problem.ts` has the words and
 * statuses.
 */
export type ProblemCode = (typeof FINAL_CODES | typeof OTHER_CODES)[number];

/** Whether a text is the code of a refusal. */
export function isProblemCode(code: string): code is ProblemCode {
  return (FINAL_CODES as readonly string[]).includes(code) || (OTHER_CODES as readonly string[]).includes(code);
}

/** Whether a report that was refused with this will never be taken, or that the device itself refused to send. */
export function isFinal(code: string): boolean {
  return code === "budget-spent" || (FINAL_CODES as readonly string[]).includes(code);
}
