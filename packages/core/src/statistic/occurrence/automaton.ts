import type { DeviceScheme } from "../../encryption/rerandomizable.ts";
import {
  createRandomizedResponse,
  drawResponse,
  type RandomizedResponse,
  respond,
} from "../../privacy/randomized-response.ts";
import type { Randomness } from "../../randomness/index.ts";
import { counter } from "../automaton/counter.ts";
import { levelSlots } from "../automaton/levels.ts";
import {
  automataServer,
  type CounterScheme,
  type EncryptedAutomaton,
  encryptedAutomata,
} from "../automaton/machine.ts";
import { answeredBits, type BitResponse } from "../automaton/sealing.ts";
import { areBits, type DeviceSide, type ServerSide } from "../statistic.ts";
import { checkOccurrence, type OccurrenceSpec, occurrenceEstimates, occurrenceEvents } from "./occurrence.ts";

/**
 * Alg. 2, CountNonZero: a counter up to one, of which only "at least one" is read. So it is one ciphertext, which every
 * event replaces by Enc(1), from wherever it was. With sharings and their proofs for messages it is Alg. 5. `draw`
 * decides what to report at the end.
 */
export function encryptedOccurrence<C>(
  event: string,
  draw: (random: Randomness) => BitResponse,
): EncryptedAutomaton<C> {
  return {
    slots: levelSlots(counter(event, 1)),
    sealing: answeredBits([[0]], (random) => [draw(random)]),
  };
}

/** A randomized response for every metric. */
export function responsesOf(spec: OccurrenceSpec): RandomizedResponse[] {
  checkOccurrence(spec, spec.localEpsilons.length);
  return spec.localEpsilons.map(createRandomizedResponse);
}

/**
 * The device's half, on any scheme that encrypts bits. Every metric has its own key. So a captured ciphertext of a
 * metric with much noise opens to nothing where a metric with less noise is read.
 */
export function occurrenceDevice<P, C>(scheme: DeviceScheme<P, C>, spec: OccurrenceSpec): DeviceSide {
  const responses = responsesOf(spec);
  const events = occurrenceEvents(spec, responses);
  const automata = responses.map((response, i) =>
    encryptedOccurrence<C>(events[i] as string, (random) => drawResponse(response, random)),
  );
  return encryptedAutomata(scheme, spec, automata);
}

/** The server's half. */
export function occurrenceServer<P, S, C>(scheme: CounterScheme<P, S, C>, spec: OccurrenceSpec): ServerSide {
  const responses = responsesOf(spec);
  return {
    ...automataServer(
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
