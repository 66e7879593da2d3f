import type { DeviceScheme } from "../../encryption/rerandomizable.ts";
import {
  createRandomizedResponse,
  drawResponse,
  type RandomizedResponse,
  respond,
} from "../../privacy/randomized-response.ts";
import type { Randomness } from "../../randomness/index.ts";
import {
  applyResponses,
  type CounterScheme,
  type PaperAlgorithm,
  paperDevice,
  paperServer,
} from "../paper/ciphertext-vector.ts";
import { areBits, type DeviceSide, type ServerSide } from "../statistic.ts";
import { checkOccurrence, type OccurrenceSpec, occurrenceEstimates } from "./occurrence.ts";

/**
 * Alg. 2, CountNonZero: one ciphertext per metric, replaced by Enc(1) at every event. With sharings and their proofs
 * for messages it is Alg. 5. `draw` decides for every metric what to report at the end. Every metric has its own key,
 * unless `keys` is 1. So a captured ciphertext of a metric with much noise opens to nothing where a metric with less
 * noise is read.
 */
export function occurrenceAlgorithm<C>(
  metrics: number,
  keys: 1 | typeof metrics,
  draw: (random: Randomness) => readonly (0 | 1 | "keep")[],
): PaperAlgorithm<C> {
  return {
    saturation: 1,
    metrics,
    stateLength: metrics,
    reportLength: metrics,
    keys,
    initialize: ({ encrypt }) => Array.from({ length: metrics }, (_, i) => encrypt(0, i)), // l. 2
    update: (state, metric, { encrypt }) => state.with(metric, encrypt(1, metric)), // l. 6
    sendToServer: (state, encryptor, random) => applyResponses(state, draw(random), encryptor), // l. 12–22
  };
}

/** A randomized response for every metric. */
export function responsesOf(spec: OccurrenceSpec): RandomizedResponse[] {
  checkOccurrence(spec, spec.localEpsilons.length);
  return spec.localEpsilons.map(createRandomizedResponse);
}

/** The device's half, on any scheme that encrypts bits. */
export function paperOccurrenceDevice<P, C>(scheme: DeviceScheme<P, C>, spec: OccurrenceSpec): DeviceSide {
  const responses = responsesOf(spec);
  const draw = (random: Randomness) => responses.map((response) => drawResponse(response, random));
  return paperDevice(scheme, spec, occurrenceAlgorithm(responses.length, responses.length, draw));
}

/** The server's half. */
export function paperOccurrenceServer<P, S, C>(scheme: CounterScheme<P, S, C>, spec: OccurrenceSpec): ServerSide {
  const responses = responsesOf(spec);
  return {
    ...paperServer(
      scheme,
      { reportLength: responses.length, keys: responses.length },
      {
        read: (bits) => (areBits(bits) ? bits : undefined),
        onNoEvent: (random) => responses.map((response) => respond(response, 0, random)),
      },
    ),
    ...occurrenceEstimates(responses),
  };
}
