import { clampTo, estimateFromResponses } from "../../estimate/index.ts";
import type { RandomizedResponse } from "../../privacy/randomized-response.ts";
import type { ServerEstimates } from "../statistic.ts";
import { checkWrites, type WritesSpec } from "../writes.ts";

/** On how many devices did it happen at least once? (CountNonZero of the paper.) */
export interface OccurrenceSpec extends WritesSpec {
  /** One for every metric. */
  readonly localEpsilons: readonly number[];
}

export function checkOccurrence(spec: OccurrenceSpec): void {
  checkWrites(spec);
  if (spec.localEpsilons.length === 0) throw new RangeError("an occurrence statistic has at least one metric");
}

/** What both schemes do with the bits that devices told. */
export function occurrenceEstimates(responses: readonly RandomizedResponse[]): ServerEstimates {
  return {
    localEpsilon: () => responses.reduce((most, { localEpsilon }) => Math.max(most, localEpsilon), 0),
    mechanism: "randomized-response",
    estimate: (sums, devices) =>
      responses.map((response, i) => estimateFromResponses(response, sums[i] as number, devices)),
    consistent: (estimates, devices) => estimates.map((estimate) => clampTo(devices, estimate)),
  };
}
