import type { ProblemCode } from "./problem-code.ts";

/** What a service refuses and with which HTTP status, all in one place. */
export const PROBLEMS: Readonly<Record<ProblemCode, { readonly status: number; readonly title: string }>> = {
  "bad-encoding": { status: 400, title: "The request cannot be read" },
  unauthorized: { status: 401, title: "The token is missing or wrong" },
  "unknown-task": { status: 404, title: "There is no such task" },
  "unknown-device": { status: 404, title: "This device is not enrolled in this window" },
  "report-differs": { status: 409, title: "This device has sent a different report before" },
  "window-closed": { status: 410, title: "The window takes no more" },
  "wrong-size": { status: 413, title: "The body has the wrong size" },
  "wrong-type": { status: 415, title: "The body has the wrong type" },
  "bad-task": { status: 422, title: "The task cannot be run" },
  "window-not-open": { status: 425, title: "The window has not begun, or its release is not there yet" },
  "rate-limited": { status: 429, title: "Too many requests" },
  "no-keys-left": { status: 503, title: "No device keys are left for now" },
};

/** The body of a refusal, `application/problem+json` (RFC 9457). */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ProblemCode;
  readonly detail: string;
}

/** The body of a refusal. */
export function problemOf(code: ProblemCode, detail: string): Problem {
  return { type: `urn:lethe:problem:${code}`, ...PROBLEMS[code], code, detail };
}
