import type { Randomness } from "../randomness/index.ts";
import {
  bucketOf,
  checkHistogram,
  type HistogramMechanism,
  histogramEstimates,
  histogramMechanism,
} from "../statistic/histogram.ts";
import { drawHistogramResponses, respondHistogram } from "../statistic/histogram-answer.ts";
import { bestPossibleMechanism, requirePossibleMechanism } from "../statistic/histogram-two-server.ts";
import { applyResponses, type PaperAlgorithm, paperDevice } from "../statistic/paper/ciphertext-vector.ts";
import { serverNoiseEstimates, serverNoiseOf } from "./server-noise.ts";
import { createSharedBits } from "./shared-bit.ts";
import type { TwoServerSpec } from "./spec.ts";
import type { DeviceInContext, TwoServerParts } from "./statistic.ts";

type Response = 0 | 1 | "keep";
type Histogram = Extract<TwoServerSpec, { readonly statistic: "histogram" }>;

/**
 * Alg. 3 on shared bits, which do not add up: beside exactly[i], "i events", for i below the last edge k, the state has atLeast[i], "i or more", up to
 * k, so that nothing is lost at the top (exactly[k] and atLeast[0] of the paper are never told, hence 2k bits). A report has exactly[0 … k−1] and
 * atLeast[k], of which one is 1. The servers add up those of a bucket. `draw` decides for every bucket what to tell.
 */
function algorithm<C>(
  { ticks, eventsPerTick, edges }: Histogram,
  draw: (random: Randomness) => readonly Response[],
): PaperAlgorithm<C> {
  const top = edges.at(-1) as number;
  return {
    ticks,
    eventsPerTick,
    metrics: 1,
    stateLength: 2 * top,
    reportLength: top + 1,
    keys: 1,
    initialize: ({ encrypt }) => Array.from({ length: 2 * top }, (_, i) => encrypt(i === 0 ? 1 : 0, i)),
    update: (state, _metric, { encrypt }) => [
      encrypt(0, 0),
      ...state.slice(0, top - 1),
      encrypt(1, top),
      ...state.slice(top, 2 * top - 1),
    ],
    sendToServer: (state, encryptor, random) => {
      const told = [...state.slice(0, top), state.at(-1) as C];
      return applyResponses(told, spread(draw(random), edges), encryptor);
    },
  };
}

/** The response of a bucket is that of its first count; the others are told as 0 with it. */
function spread(responses: readonly Response[], edges: readonly number[]): Response[] {
  return countsUpTo(edges).map((count) => {
    const response = responses[bucketOf(edges, count)] as Response;
    return response === "keep" || edges.includes(count) ? response : 0;
  });
}

function countsUpTo(edges: readonly number[]): number[] {
  return Array.from({ length: (edges.at(-1) as number) + 1 }, (_, count) => count);
}

function mechanismOf(spec: Extract<Histogram, { readonly noise: "device" }>): HistogramMechanism {
  if (spec.mechanism) requirePossibleMechanism(spec.mechanism, spec.edges);
  return histogramMechanism({ mechanism: bestPossibleMechanism(spec.edges, spec.localEpsilon), ...spec });
}

export function twoServerHistogramDevice(spec: Histogram): DeviceInContext {
  checkHistogram({ ...spec, localEpsilon: 1 });
  const mechanism = spec.noise === "servers" ? undefined : mechanismOf(spec);
  const draw = (random: Randomness): Response[] =>
    mechanism ? drawHistogramResponses(mechanism, random) : spec.edges.map(() => "keep");
  return (ctx) => paperDevice(createSharedBits(ctx), algorithm(spec, draw));
}

export function twoServerHistogram(spec: Histogram): TwoServerParts {
  const { edges } = spec;
  const layout = {
    device: twoServerHistogramDevice(spec),
    answerOf: countsUpTo(edges).map((count) => bucketOf(edges, count)),
    answers: edges.length,
  };
  if (spec.noise === "servers") {
    return {
      ...layout,
      ...serverNoiseEstimates(spec),
      isOneHot: true,
      onNoEvent: () => edges.map((_, bucket) => Number(bucket === 0)),
      serverNoise: serverNoiseOf(spec),
    };
  }
  const mechanism = mechanismOf(spec);
  return {
    ...layout,
    ...histogramEstimates(mechanism),
    isOneHot: mechanism.name === "kary",
    onNoEvent: (random) => respondHistogram(mechanism, 0, random),
  };
}
