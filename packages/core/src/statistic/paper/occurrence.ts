import {
  createRandomizedResponse,
  drawResponse,
  type RandomizedResponse,
  respond,
} from "../../privacy/randomized-response.ts";
import { checkOccurrence, type OccurrenceSpec, occurrenceEstimates } from "../occurrence.ts";
import { areBits, type DeviceSide, type ServerSide } from "../statistic.ts";
import {
  applyResponses,
  type CounterScheme,
  type PaperAlgorithm,
  paperDevice,
  paperServer,
} from "./ciphertext-vector.ts";

/** Alg. 2, CountNonZero: one ciphertext a metric, replaced by Enc(1) at every event. */
function algorithm<C>({ ticks }: OccurrenceSpec, responses: readonly RandomizedResponse[]): PaperAlgorithm<C> {
  const metrics = responses.length;
  return {
    ticks,
    eventsPerTick: Number.POSITIVE_INFINITY,
    metrics,
    stateLength: metrics,
    reportLength: metrics,
    initialize: ({ encrypt }) => responses.map(() => encrypt(0)), // l. 2
    update: (state, metric, { encrypt }) => state.with(metric, encrypt(1)), // l. 6
    sendToServer: (state, encryptor, random) => {
      const drawn = responses.map((response) => drawResponse(response, random)); // l. 12–14
      return applyResponses(state, drawn, encryptor); // l. 15–22
    },
  };
}

function responsesOf(spec: OccurrenceSpec): RandomizedResponse[] {
  checkOccurrence(spec);
  return spec.localEpsilons.map(createRandomizedResponse);
}

export function paperOccurrenceDevice<P, S, C>(scheme: CounterScheme<P, S, C>, spec: OccurrenceSpec): DeviceSide {
  return paperDevice(scheme, algorithm(spec, responsesOf(spec)));
}

export function paperOccurrenceServer<P, S, C>(scheme: CounterScheme<P, S, C>, spec: OccurrenceSpec): ServerSide {
  const responses = responsesOf(spec);
  return {
    ...paperServer(scheme, responses.length, {
      read: (bits) => (areBits(bits) ? bits : undefined),
      onNoEvent: (random) => responses.map((response) => respond(response, 0, random)),
    }),
    ...occurrenceEstimates(responses),
  };
}
