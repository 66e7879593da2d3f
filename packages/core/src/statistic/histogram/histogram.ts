import {
  type CategoryResponse,
  type CoinsOf,
  coinTails,
  type Estimate,
  estimateCombination,
  estimateFromKary,
  estimateFromResponses,
  estimateFromUnary,
  estimateQuantiles,
  karyCoins,
  projectToHistogram,
  type QuantileEstimate,
  responseCoins,
  unaryCoins,
} from "../../estimate/index.ts";
import { requireEpsilon } from "../../privacy/epsilon.ts";
import { createKaryResponse, type KaryResponse } from "../../privacy/kary-response.ts";
import { createRandomizedResponse, type RandomizedResponse } from "../../privacy/randomized-response.ts";
import { createUnaryEncoding, type UnaryEncoding } from "../../privacy/unary-encoding.ts";
import { type CountSpec, checkCounts } from "../room.ts";
import type { NamedMetric, Types } from "../spec.ts";
import type { ServerEstimates } from "../statistic.ts";

/** How a device noises its bucket. */
export type HistogramMechanismName = "kary" | "unary" | "per-bucket";

/** All of them, from the one that is best for few buckets on. */
export const MECHANISMS: readonly HistogramMechanismName[] = ["kary", "unary", "per-bucket"];

/** What a release has if a metric names none: the median, and what one device in ten exceeds. */
export const QUANTILES: readonly number[] = [0.5, 0.9];

/** How many devices had how many events? */
export interface HistogramSpec extends CountSpec {
  /** Where buckets begin: [0, 1, 2, 5] means 0, 1, 2 to 4, 5 or more. */
  readonly edges: readonly number[];
  readonly localEpsilon: number;
  /** The one with the least error if absent. */
  readonly mechanism?: HistogramMechanismName;
  /** What a release states of them; devices do not care. */
  readonly quantiles?: readonly number[];
}

/** The same with the servers' noise. */
interface CountedHistogramSpec extends CountSpec {
  readonly noise: "servers";
  readonly edges: readonly number[];
  readonly quantiles?: readonly number[];
  /** The standard deviation of a server's noise in every bucket, in devices. */
  readonly sigma: number;
}

/** Each device adds noise to its own answer. */
export interface HistogramMetric extends NamedMetric {
  readonly statistic: "histogram";
  readonly noise?: never;
  readonly edges: readonly number[];
  readonly localEpsilon: number;
  /**
   * How many events between two writes are counted: on lattices, which have no room for more; elsewhere there is no
   * limit.
   */
  readonly eventsPerTick?: number | undefined;
  readonly mechanism?: HistogramMechanismName;
  /** Which quantiles a release has, each above 0 and below 1, in order; 0.5 and 0.9 if absent. */
  readonly quantiles?: readonly number[];
}

/** Devices answer truly, to two servers, each of which adds noise to the sums. */
export interface CountedHistogramMetric extends NamedMetric {
  readonly statistic: "histogram";
  readonly noise: "servers";
  readonly edges: readonly number[];
  /** Of each server's noise in each bucket, in devices. */
  readonly sigma: number;
  /**
   * How many events between two writes are counted: on lattices, which have no room for more; elsewhere there is no
   * limit.
   */
  readonly eventsPerTick?: number | undefined;
  /** Which quantiles a release has, each above 0 and below 1, in order; 0.5 and 0.9 if absent. */
  readonly quantiles?: readonly number[];
}

type Named = { readonly statistic: "histogram" };

/** The types of this statistic, for the list in `table.ts`. */
export interface HistogramTypes extends Types {
  readonly metric: HistogramMetric | CountedHistogramMetric;
  readonly schemes: "lattice" | "elgamal";
  readonly oneServer: Named & HistogramSpec;
  readonly twoServers: (Named & HistogramSpec & { readonly noise: "device" }) | (Named & CountedHistogramSpec);
  readonly shape: { readonly event?: string | undefined; readonly edges?: readonly number[] };
  readonly output: "categories";
}

/** A mechanism with its probabilities. */
export type HistogramMechanism =
  | (KaryResponse & { readonly name: "kary" })
  | (UnaryEncoding & { readonly name: "unary" })
  | (RandomizedResponse & { readonly name: "per-bucket"; readonly buckets: number });

/** Refuses edges and room that cannot be, with a `RangeError`. */
export function checkHistogram({ edges, ...spec }: CountSpec & Pick<HistogramSpec, "edges">): void {
  checkCounts(spec);
  checkEdges(edges);
}

/** Refuses edges that cannot be, with a `RangeError`. */
export function checkEdges(edges: readonly number[]): void {
  const increasing = edges.every((edge, i) => Number.isInteger(edge) && (i === 0 || edge > (edges[i - 1] as number)));
  if (edges.length < 2 || edges[0] !== 0 || !increasing) {
    throw new RangeError(
      `edges are whole numbers that begin with 0 and increase, at least two, not [${edges.join(", ")}]`,
    );
  }
}

/** The bucket of a count: the last edge that is not above it. */
export function bucketOf(edges: readonly number[], count: number): number {
  return edges.findLastIndex((edge) => edge <= count);
}

/** "0", "2–4" or "5+". */
export function bucketName(edges: readonly number[], bucket: number): string {
  const first = edges[bucket] as number;
  const next = edges[bucket + 1];
  if (next === undefined) return `${first}+`;
  return next === first + 1 ? String(first) : `${first}–${next - 1}`;
}

/** How many buckets' bits differ between two devices. */
const CHANGED_BUCKETS = 2;

/** ε₀ in the range of the mechanism: each of its answers has its own limit. */
export function requireHistogramEpsilon(localEpsilon: number, mechanism?: HistogramMechanismName): void {
  requireEpsilon(localEpsilon, mechanism === "per-bucket" ? CHANGED_BUCKETS : 1);
}

/** Which has the least error at ε: K-ary response has less than unary encoding while K < 3e^ε + 2 [WBLJ17]. */
export function bestMechanism(buckets: number, localEpsilon: number): HistogramMechanismName {
  return buckets < 3 * Math.exp(localEpsilon) + 2 ? "kary" : "unary";
}

/**
 * The one named, or the best. The paper's own, randomized response on every bucket, spends ε on the two buckets in
 * which neighbours differ, so each gets ε/2 (docs/errata.md, 1).
 */
export function categoryMechanism(
  buckets: number,
  { localEpsilon, mechanism }: Pick<HistogramSpec, "localEpsilon" | "mechanism">,
): HistogramMechanism {
  const name = mechanism ?? bestMechanism(buckets, localEpsilon);
  if (name === "kary") return { name, ...createKaryResponse(localEpsilon, buckets) };
  if (name === "unary") return { name, ...createUnaryEncoding(localEpsilon, buckets) };
  requireHistogramEpsilon(localEpsilon, name);
  const response = createRandomizedResponse(localEpsilon / CHANGED_BUCKETS);
  return { name, buckets, ...response, localEpsilon: CHANGED_BUCKETS * response.localEpsilon };
}

/** `categoryMechanism` for the buckets of a histogram. */
export function histogramMechanism(spec: HistogramSpec): HistogramMechanism {
  return categoryMechanism(spec.edges.length, spec);
}

function estimateHistogram(mechanism: HistogramMechanism, sums: readonly number[], devices: number): Estimate[] {
  return sums.map((told) => {
    if (mechanism.name === "kary") return estimateFromKary(mechanism, told, devices);
    if (mechanism.name === "unary") return estimateFromUnary(mechanism, told, devices);
    return estimateFromResponses(mechanism, told, devices);
  });
}

/** How often a device names its own bucket and another one. */
function responseOf(mechanism: HistogramMechanism): CategoryResponse {
  if (mechanism.name === "kary") {
    const decoy = (1 - mechanism.keep) / mechanism.buckets;
    return { ifOwn: mechanism.keep + decoy, ifOther: decoy, namesOne: true };
  }
  if (mechanism.name === "unary") return { ifOwn: 0.5, ifOther: mechanism.noise, namesOne: false };
  return { ifOwn: 1 - mechanism.flip, ifOther: mechanism.flip, namesOne: false };
}

function histogramQuantiles(
  mechanism: HistogramMechanism,
  sums: readonly number[],
  devices: number,
  asked: readonly number[],
): QuantileEstimate[] {
  const estimates = estimateHistogram(mechanism, sums, devices).map(({ estimate }) => estimate);
  const tails = coinTails(sums, devices, coinsOf(mechanism));
  return estimateQuantiles({ devices, consistent: projectToHistogram(estimates, devices), tails }, asked);
}

function coinsOf(mechanism: HistogramMechanism): CoinsOf {
  if (mechanism.name === "kary") return karyCoins(mechanism);
  return mechanism.name === "unary" ? unaryCoins(mechanism) : responseCoins(mechanism);
}

/** What both schemes do with the buckets that devices told. */
export function histogramEstimates(mechanism: HistogramMechanism): ServerEstimates {
  return {
    localEpsilon: () => mechanism.localEpsilon,
    mechanism: mechanism.name,
    estimate: (sums, devices) => estimateHistogram(mechanism, sums, devices),
    combine: (sums, devices, weights) => estimateCombination(responseOf(mechanism), sums, devices, weights),
    consistent: projectToHistogram,
    quantiles: (sums, devices, asked) => histogramQuantiles(mechanism, sums, devices, asked),
  };
}
