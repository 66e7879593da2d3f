import { LetheError, type LetheErrorCode } from "@lethe/core/device";
import type { WriterState } from "./state.ts";

/**
 * Reports a problem, once until something works again. Whatever is not a `LetheError` means that the record is
 * unusable.
 */
export function report({ reported, onProblem }: WriterState, error: unknown): void {
  const problem = error instanceof LetheError ? error : unusable(error);
  if (reported.has(problem.message)) return;
  reported.add(problem.message);
  onProblem(problem);
}

/** Reports what an event caused, at most once per code and segment, so that what is reported is no list of events. */
export function reportEvent({ segment, onDropped }: WriterState, code: LetheErrorCode, message: string): void {
  if (segment.has(code)) return;
  segment.add(code);
  onDropped(new LetheError(code, message));
}

/** What is stored does not fit its task or its keys. */
export function unusable(cause: unknown): LetheError {
  return new LetheError("bad-state", "the stored record cannot be used: counting begins anew", { cause });
}
