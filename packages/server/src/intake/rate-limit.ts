import { LetheError } from "@lethe/core/error";

/** How often an address may ask. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

const MOST_ADDRESSES = 100_000;
const LEAST_RETRY_SECONDS = 5;

/** How much each address has left. */
export interface RateLimit {
  /** Throws `rate-limited` if the address has nothing left. */
  require(address: string): void;
  /** Takes one; throws `rate-limited` if the address has nothing left. */
  take(address: string): void;
}

/**
 * A bucket of tokens for each address that fills at a steady rate; full buckets are forgotten. In memory only. A refusal
 * says `what` there was too much of, and has a `retryAfter`.
 */
export function createRateLimit({ perSecond, burst }: Rate, now: () => number, what: string): RateLimit {
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

  /** What is left at this time. */
  function requireLeft(address: string, at: number): number {
    const bucket = buckets.get(address) ?? { tokens: burst, at };
    const tokens = Math.min(burst, bucket.tokens + Math.max(0, at - bucket.at) * perSecond);
    if (tokens >= 1) return tokens;
    const retryAfter = Math.ceil((1 - tokens) / perSecond);
    throw Object.assign(new LetheError("rate-limited", `too many ${what} from this address: try again in a moment`), {
      // Many who are refused at once should not return at once.
      retryAfter: Math.max(LEAST_RETRY_SECONDS, retryAfter),
    });
  }

  return {
    require: (address) => void requireLeft(address, now()),
    take: (address) => {
      const at = now();
      const tokens = requireLeft(address, at);
      buckets.delete(address);
      buckets.set(address, { tokens: tokens - 1, at });
      if (buckets.size > MOST_ADDRESSES) forgetFull(at);
    },
  };
}
