/** What a service tells its clients; the other codes of errors stay inside. `problem.ts` has the words and statuses. */
const PROBLEM_CODES = [
  "bad-encoding",
  "unauthorized",
  "unknown-task",
  "unknown-device",
  "report-differs",
  "window-closed",
  "wrong-size",
  "wrong-type",
  "bad-task",
  "window-not-open",
  "rate-limited",
  "no-keys-left",
] as const;

export type ProblemCode = (typeof PROBLEM_CODES)[number];

export function isProblemCode(code: string): code is ProblemCode {
  return PROBLEM_CODES.some((known) => known === code);
}
