import type { DiscreteGaussian } from "../privacy/discrete-gaussian.ts";
import type { Randomness } from "../randomness/index.ts";
import type { DeviceSide, ServerEstimates, StatisticBytes } from "./statistic.ts";

/** A statistic of two servers: a report is a number of shared bits, of which sums are taken. */
export interface TwoServerStatistic extends TwoServerParts {
  /** Those of `device`; the report's are both halves together, before they are wrapped. */
  readonly bytes: StatisticBytes;
}

/** The device's half, for sharings that are made for a context. */
export type DeviceInContext = (ctx: Uint8Array) => DeviceSide;

/** What differs between statistics. */
export interface TwoServerParts extends ServerEstimates {
  readonly device: DeviceInContext;
  /** For every bit of a report, which of the answers it adds to. */
  readonly answerOf: readonly number[];
  readonly answers: number;
  /** Whether exactly one bit of an honest report is 1, which the servers check. */
  readonly isOneHot: boolean;
  /** If present, bits are slots shared in the exponent, and both servers see the answers. Else they are shared bits. */
  readonly collusion?: "one-server";
  /** The answers that count instead of an invalid report. */
  onNoEvent(random: Randomness): readonly number[];
  /** What each server adds to each answer's sum, unless the devices have added theirs. */
  readonly serverNoise?: readonly DiscreteGaussian[];
}

/** Answers of all statistics of a report. */
export function answersIn(statistics: readonly Pick<TwoServerParts, "answers">[]): number {
  return statistics.reduce((sum, { answers }) => sum + answers, 0);
}

/** What a server adds to each of these answers, nothing where the devices have. */
export function serverNoiseIn(
  statistics: readonly Pick<TwoServerParts, "answers" | "serverNoise">[],
): (DiscreteGaussian | undefined)[] {
  return statistics.flatMap(({ answers, serverNoise }) => Array.from({ length: answers }, (_, i) => serverNoise?.[i]));
}
