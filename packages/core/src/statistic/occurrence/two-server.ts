import { COUNT } from "../../privacy/accounting/server-noise.ts";
import { drawResponse, respond } from "../../privacy/randomized-response.ts";
import { createSharedBits, type SharedBit } from "../../sharing/shared-bit.ts";
import { encryptedAutomata } from "../automaton/machine.ts";
import { serverNoised } from "../server-noise.ts";
import type { StatisticTypes } from "../table.ts";
import type { DeviceInContext, TwoServerParts } from "../two-server.ts";
import { encryptedOccurrence, responsesOf } from "./automaton.ts";
import { checkOccurrence, consistentCounts, occurrenceEstimates, occurrenceEvents } from "./occurrence.ts";

type Occurrence = StatisticTypes["occurrence"]["twoServers"];

/** Alg. 5: one shared bit a metric, replaced by a fresh sharing of 1 at every event. */
export function twoServerOccurrenceDevice(spec: Occurrence): DeviceInContext {
  const each = metricsOf(spec);
  const responses = spec.noise === "servers" ? [] : responsesOf(spec);
  const events = occurrenceEvents(spec, each);
  return (ctx) => {
    const automata = each.map((i) =>
      encryptedOccurrence<SharedBit>(events[i] as string, (random) =>
        responses[i] === undefined ? "keep" : drawResponse(responses[i], random),
      ),
    );
    return encryptedAutomata(createSharedBits(ctx), spec, automata, 1);
  };
}

function metricsOf(spec: Occurrence): number[] {
  const { length } = spec.noise === "servers" ? spec.sigmas : spec.localEpsilons;
  checkOccurrence(spec, length);
  return Array.from({ length }, (_, i) => i);
}

/** Both halves, but for the sizes. */
export function twoServerOccurrence(spec: Occurrence): TwoServerParts {
  const each = metricsOf(spec);
  const layout = {
    device: twoServerOccurrenceDevice(spec),
    answerOf: each,
    answers: each.length,
    isOneHot: false,
  };
  if (spec.noise === "servers") {
    const answers = { sigmas: spec.sigmas, exposure: COUNT, consistent: consistentCounts };
    return { ...layout, ...serverNoised(answers), onNoEvent: () => each.map(() => 0) };
  }
  const responses = responsesOf(spec);
  return {
    ...layout,
    ...occurrenceEstimates(responses),
    onNoEvent: (random) => responses.map((response) => respond(response, 0, random)),
  };
}
