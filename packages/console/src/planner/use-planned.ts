import type { LetheError } from "@lethe/core/error";
import { useEffect, useState } from "preact/hooks";
import { runJob } from "./client.ts";
import type { Jobs } from "./jobs.ts";

/** The answer to the last question that was answered, and whether a newer question is open. */
export interface Planned<T> {
  readonly value?: T;
  readonly failure?: LetheError;
  readonly isOld: boolean;
}

/** Time for the next key. */
const PAUSE_MS = 120;

/**
 * Asks the planner whenever the input changes, and keeps the last answer meanwhile, so that nothing jumps. It also stays
 * if the new answer is undefined or a failure, or if nothing is asked.
 */
export function usePlanned<Name extends keyof Jobs>(
  name: Name,
  input: Parameters<Jobs[Name]>[0] | undefined,
): Planned<NonNullable<Awaited<ReturnType<Jobs[Name]>>>> {
  type Output = NonNullable<Awaited<ReturnType<Jobs[Name]>>>;
  const key = JSON.stringify(input);
  const [answer, setAnswer] = useState<{ key?: string | undefined; value?: Output | undefined; failure?: LetheError }>(
    {},
  );
  useEffect(() => {
    if (input === undefined) return undefined;
    let isCurrent = true;
    const timer = setTimeout(() => {
      runJob(name, input).then(
        (value) => isCurrent && setAnswer((last) => ({ key, value: value ?? last.value })),
        (failure: LetheError) => isCurrent && setAnswer((last) => ({ key, value: last.value, failure })),
      );
    }, PAUSE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [name, key]);
  const { value, failure } = answer;
  return { ...(value !== undefined && { value }), ...(failure && { failure }), isOld: answer.key !== key };
}
