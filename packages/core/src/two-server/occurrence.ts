import { drawResponse, respond } from "../privacy/randomized-response.ts";
import type { Randomness } from "../randomness/index.ts";
import { checkOccurrence, occurrenceEstimates } from "../statistic/occurrence.ts";
import { paperDevice } from "../statistic/paper/ciphertext-vector.ts";
import { occurrenceAlgorithm, responsesOf } from "../statistic/paper/occurrence.ts";
import { serverNoiseEstimates, serverNoiseOf } from "./server-noise.ts";
import { createSharedBits } from "./shared-bit.ts";
import type { TwoServerSpec } from "./spec.ts";
import type { TwoServerParts } from "./statistic.ts";

/** Alg. 5: one shared bit a metric, replaced by a fresh sharing of 1 at every event. */
export function twoServerOccurrence(
  spec: Extract<TwoServerSpec, { readonly statistic: "occurrence" }>,
): TwoServerParts {
  const isAtServers = spec.noise === "servers";
  const metrics = isAtServers ? spec.sigmas.length : spec.localEpsilons.length;
  checkOccurrence({ ticks: spec.ticks, localEpsilons: new Array<number>(metrics).fill(1) });
  const each = Array.from({ length: metrics }, (_, i) => i);
  const device = (draw: (random: Randomness) => readonly (0 | 1 | "keep")[]): TwoServerParts["device"] => {
    return (ctx) => paperDevice(createSharedBits(ctx), occurrenceAlgorithm(spec.ticks, metrics, draw));
  };
  const layout = { answerOf: each, answers: metrics, isOneHot: false };
  if (isAtServers) {
    return {
      ...layout,
      ...serverNoiseEstimates(spec),
      device: device(() => each.map(() => "keep")),
      onNoEvent: () => each.map(() => 0),
      serverNoise: serverNoiseOf(spec),
    };
  }
  const responses = responsesOf(spec);
  return {
    ...layout,
    ...occurrenceEstimates(responses),
    device: device((random) => responses.map((response) => drawResponse(response, random))),
    onNoEvent: (random) => responses.map((response) => respond(response, 0, random)),
  };
}
