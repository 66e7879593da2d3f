import { tryInput } from "./judge.ts";
import type { Target } from "./target.ts";

const MOST_ATTEMPTS = 600;
const MOST_MS = 10_000;

/** A smaller input with which the same is wrong: parts are left out, then bytes become zeros. */
export async function shrunk(target: Target, input: Uint8Array, what: string): Promise<Uint8Array> {
  let best = input;
  let attempts = 0;
  const started = performance.now();
  const isOver = (): boolean => attempts >= MOST_ATTEMPTS || performance.now() - started > MOST_MS;
  const improves = async (candidate: Uint8Array): Promise<boolean> => {
    attempts++;
    const outcome = await tryInput(target, candidate);
    if (typeof outcome === "string" || outcome.wrong !== what) return false;
    best = candidate;
    return true;
  };
  for (let part = Math.ceil(best.length / 2); part >= 1 && !isOver(); part = part === 1 ? 0 : Math.ceil(part / 2)) {
    for (let at = 0; at < best.length && !isOver(); ) {
      const without = best.filter((_, i) => i < at || i >= at + part);
      if (!(await improves(without))) at += part;
    }
  }
  for (let at = 0; at < best.length && !isOver(); at++) {
    if (best[at] !== 0) await improves(best.map((byte, i) => (i === at ? 0 : byte)));
  }
  return best;
}
