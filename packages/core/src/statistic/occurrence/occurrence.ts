import { clampTo, estimateFromResponses } from "../../estimate/index.ts";
import type { RandomizedResponse } from "../../privacy/randomized-response.ts";
import type { NamedMetric, Types } from "../spec.ts";
import type { ServerEstimates } from "../statistic.ts";
import { checkWrites, type WritesSpec } from "../writes.ts";

interface EventsSpec extends WritesSpec {
  /** The event of every metric; several may have the same. If absent, they are called by their numbers. */
  readonly events?: readonly string[] | undefined;
}

/** On how many devices did it happen at least once? (CountNonZero of the paper.) */
export interface OccurrenceSpec extends EventsSpec {
  /** One for every metric. */
  readonly localEpsilons: readonly number[];
}

/** The same with the servers' noise. */
interface CountedOccurrenceSpec extends EventsSpec {
  readonly noise: "servers";
  /** The standard deviation of a server's noise, one for every metric, in devices. */
  readonly sigmas: readonly number[];
}

/** Each device adds noise to its own answer. */
export interface OccurrenceMetric extends NamedMetric {
  readonly statistic: "occurrence";
  readonly noise?: never;
  readonly localEpsilon: number;
}

/** Devices answer truly, to two servers, each of which adds noise to the sum. */
export interface CountedOccurrenceMetric extends NamedMetric {
  readonly statistic: "occurrence";
  readonly noise: "servers";
  /** Of each server's noise, in devices. */
  readonly sigma: number;
}

type Named = { readonly statistic: "occurrence" };

/** The types of this statistic, for the list in `table.ts`. */
export interface OccurrenceTypes extends Types {
  readonly metric: OccurrenceMetric | CountedOccurrenceMetric;
  readonly schemes: "lattice" | "elgamal";
  readonly oneServer: Named & OccurrenceSpec;
  readonly twoServers: (Named & OccurrenceSpec & { readonly noise: "device" }) | (Named & CountedOccurrenceSpec);
  readonly shape: { readonly event?: string | undefined; readonly ticks?: number };
  readonly output: "count";
}

/** The events of metrics, from a list with an entry for each. */
export function occurrenceEvents({ events }: EventsSpec, metrics: readonly unknown[]): readonly string[] {
  return events ?? Object.keys(metrics);
}

/** Refuses a specification that cannot run, with a `RangeError`. */
export function checkOccurrence(spec: WritesSpec, metrics: number): void {
  checkWrites(spec);
  if (metrics === 0) throw new RangeError("an occurrence statistic has at least one metric");
}

/** The nearest counts that could be true. */
export function consistentCounts(estimates: readonly number[], devices: number): number[] {
  return estimates.map((estimate) => clampTo(devices, estimate));
}

/** What both schemes do with the bits that devices told. */
export function occurrenceEstimates(responses: readonly RandomizedResponse[]): ServerEstimates {
  return {
    localEpsilon: () => responses.reduce((most, { localEpsilon }) => Math.max(most, localEpsilon), 0),
    mechanism: "randomized-response",
    estimate: (sums, devices) =>
      responses.map((response, i) => estimateFromResponses(response, sums[i] as number, devices)),
    consistent: consistentCounts,
  };
}
