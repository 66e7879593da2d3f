import { drawResponse, respond } from "../../privacy/randomized-response.ts";
import type { Randomness } from "../../randomness/index.ts";
import { createSharedBits } from "../../sharing/shared-bit.ts";
import type { TwoServerSpec } from "../../two-server/spec.ts";
import { paperDevice } from "../paper/ciphertext-vector.ts";
import { serverNoiseEstimates, serverNoiseOf } from "../server-noise.ts";
import type { DeviceInContext, TwoServerParts } from "../two-server.ts";
import { checkOccurrence, occurrenceEstimates } from "./occurrence.ts";
import { occurrenceAlgorithm, responsesOf } from "./paper.ts";

type Occurrence = Extract<TwoServerSpec, { readonly statistic: "occurrence" }>;

/** Alg. 5: one shared bit a metric, replaced by a fresh sharing of 1 at every event. */
export function twoServerOccurrenceDevice(spec: Occurrence): DeviceInContext {
  const each = metricsOf(spec);
  const responses = spec.noise === "servers" ? [] : responsesOf(spec);
  const draw = (random: Randomness) =>
    each.map((i) => (responses[i] === undefined ? "keep" : drawResponse(responses[i], random)));
  return (ctx) => paperDevice(createSharedBits(ctx), spec, occurrenceAlgorithm(each.length, 1, draw));
}

function metricsOf(spec: Occurrence): number[] {
  const { length } = spec.noise === "servers" ? spec.sigmas : spec.localEpsilons;
  checkOccurrence({ ...spec, localEpsilons: new Array<number>(length).fill(1) });
  return Array.from({ length }, (_, i) => i);
}

export function twoServerOccurrence(spec: Occurrence): TwoServerParts {
  const each = metricsOf(spec);
  const layout = {
    device: twoServerOccurrenceDevice(spec),
    answerOf: each,
    answers: each.length,
    isOneHot: false,
  };
  if (spec.noise === "servers") {
    return {
      ...layout,
      ...serverNoiseEstimates(spec),
      onNoEvent: () => each.map(() => 0),
      serverNoise: serverNoiseOf(spec),
    };
  }
  const responses = responsesOf(spec);
  return {
    ...layout,
    ...occurrenceEstimates(responses),
    onNoEvent: (random) => responses.map((response) => respond(response, 0, random)),
  };
}
