import type { Refusal } from "@lethe/analyst";
import { LetheError } from "@lethe/core/error";
import { useEffect, useState } from "preact/hooks";

/** Something that is being fetched, was fetched, or could not be. `again` fetches it once more. */
export type Loaded<T> = { readonly again: () => void } & Inner<T>;

type Inner<T> =
  | { readonly state: "loading" }
  /** What was there before is `last`. */
  | { readonly state: "failed"; readonly failure: LetheError; readonly last?: T }
  | { readonly state: "there"; readonly value: T };

/** How often something is fetched again; by default never. And whether the last value stays when the keys change. */
interface LoadOptions {
  readonly everyMilliseconds?: number;
  readonly keepsLast?: boolean;
}

/**
 * Fetches something when `keys` change, and again at an interval while the tab is visible. What was there stays until
 * the new value arrives, so that nothing jumps; answers that come too late are dropped. A service that asks to wait is
 * asked again after that time, and one that refuses the token not before there is another.
 */
export function useLoaded<T>(
  load: () => Promise<T>,
  keys: readonly unknown[],
  { everyMilliseconds, keepsLast = false }: LoadOptions = {},
): Loaded<T> {
  const [inner, setInner] = useState<Inner<T>>({ state: "loading" });
  const [tries, setTries] = useState(0);
  const again = (): void => setTries((n) => n + 1);
  useEffect(() => {
    if (!keepsLast) setInner({ state: "loading" });
  }, keys);
  useEffect(() => {
    let isCurrent = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const run = async (): Promise<void> => {
      const next = await outcomeOf(load);
      if (!isCurrent) return;
      setInner((before) => withLast(next, before));
      const pause = pauseAfter(next, everyMilliseconds);
      if (pause !== undefined) timer = setTimeout(whenVisible, pause);
    };
    const whenVisible = (): void => {
      if (document.visibilityState === "visible") void run();
      else document.addEventListener("visibilitychange", whenVisible, { once: true });
    };
    void run();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", whenVisible);
    };
  }, [...keys, tries]);
  return { ...inner, again };
}

/** What was fetched last, whether or not it could be fetched again since. */
export function lastOf<T>(loaded: Loaded<T>): { readonly value?: T } {
  if (loaded.state === "there") return { value: loaded.value };
  return loaded.state === "failed" && loaded.last !== undefined ? { value: loaded.last } : {};
}

function withLast<T>(next: Inner<T>, before: Inner<T>): Inner<T> {
  if (next.state !== "failed" || before.state === "loading") return next;
  if (before.state === "there") return { ...next, last: before.value };
  return before.last === undefined ? next : { ...next, last: before.last };
}

/** Milliseconds until something is fetched again; undefined if it is not. */
export function pauseAfter(outcome: Inner<unknown>, everyMilliseconds: number | undefined): number | undefined {
  if (outcome.state !== "failed") return everyMilliseconds;
  const { code, retryAfter = 0 } = outcome.failure as LetheError & Partial<Refusal>;
  // Every wrong token counts against the reader's address.
  if (code === "unauthorized") return undefined;
  return code === "rate-limited" ? Math.max(1000 * retryAfter, everyMilliseconds ?? 0) : everyMilliseconds;
}

async function outcomeOf<T>(load: () => Promise<T>): Promise<Inner<T>> {
  try {
    return { state: "there", value: await load() };
  } catch (error) {
    if (error instanceof LetheError) return { state: "failed", failure: error };
    return { state: "failed", failure: new LetheError("service-failed", String(error)) };
  }
}
