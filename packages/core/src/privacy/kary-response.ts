import { type Randomness, uniformBelow } from "../randomness/index.ts";
import { requireEpsilon } from "./epsilon.ts";
import { drawOutcome, probabilityBelow } from "./probability.ts";

/** K-ary randomized response: tells the bucket with probability `keep`, else a uniform one, which may be the same. */
export interface KaryResponse {
  readonly buckets: number;
  /** At most (e^ε−1)/(e^ε+K−1). */
  readonly keep: number;
  /** What it costs: ln(1 + K·keep/(1−keep)), the log-ratio of telling b under b and under another bucket. */
  readonly localEpsilon: number;
}

/** The response at ε; what it costs is at most that. */
export function createKaryResponse(epsilon: number, buckets: number): KaryResponse {
  requireEpsilon(epsilon);
  const e = Math.exp(epsilon);
  const keep = probabilityBelow((e - 1) / (e + buckets - 1));
  return { buckets, keep, localEpsilon: Math.log1p((buckets * keep) / (1 - keep)) };
}

/** A uniform bucket, or "keep": decided without looking at the true one. */
export function drawKary({ buckets, keep }: KaryResponse, random: Randomness): { keep: boolean; decoy: number } {
  return { keep: drawOutcome(random, keep) === 0, decoy: uniformBelow(random, buckets) };
}

/** The bucket that a device in `bucket` reports. */
export function respondKary(mechanism: KaryResponse, bucket: number, random: Randomness): number {
  const { keep, decoy } = drawKary(mechanism, random);
  return keep ? bucket : decoy;
}
