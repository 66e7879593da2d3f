import { LetheError } from "@lethe/core/error";

/** How often an address may ask. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

const MOST_ADDRESSES = 100_000;

/** A bucket of tokens for each address that fills at a steady rate; full buckets are forgotten. In memory only. */
export function createRateLimit({ perSecond, burst }: Rate, now: () => number): (address: string) => void {
  const buckets = new Map<string, { tokens: number; at: number }>();

  function forgetFull(at: number): void {
    for (const [address, bucket] of buckets) {
      if (bucket.tokens + (at - bucket.at) * perSecond >= burst) buckets.delete(address);
    }
    // Still too many: forget the oldest, in the order in which they were last seen.
    for (const address of buckets.keys()) {
      if (buckets.size <= MOST_ADDRESSES / 2) break;
      buckets.delete(address);
    }
  }

  return (address) => {
    const at = now();
    const bucket = buckets.get(address) ?? { tokens: burst, at };
    const tokens = Math.min(burst, bucket.tokens + Math.max(0, at - bucket.at) * perSecond);
    if (tokens < 1) {
      throw new LetheError("rate-limited", "too many enrolments from this address: try again in a moment");
    }
    buckets.delete(address);
    buckets.set(address, { tokens: tokens - 1, at });
    if (buckets.size > MOST_ADDRESSES) forgetFull(at);
  };
}
