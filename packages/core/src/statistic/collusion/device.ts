import { drawResponse } from "../../privacy/randomized-response.ts";
import { type SharedSlot, sharedSlots } from "../../sharing/shared-slot.ts";
import { encryptedAutomata } from "../automaton/machine.ts";
import { oneHotSlots } from "../automaton/one-hot.ts";
import { answeredBits } from "../automaton/sealing.ts";
import { categorySums } from "../automaton/sums.ts";
import { drawHistogramResponses } from "../histogram/answer.ts";
import { encryptedOccurrence, responsesOf } from "../occurrence/automaton.ts";
import { occurrenceEvents } from "../occurrence/occurrence.ts";
import type { CollusionSpec } from "../spec.ts";
import type { DeviceSide } from "../statistic.ts";
import { answeredCategories } from "./categories.ts";

/**
 * The device's half: a slot for every state, or one for every occurrence. At the end the slots of each category add up
 * to its bit, and the whole vector is kept or replaced (K-ary response), both always prepared.
 */
export function collusionDevice(spec: CollusionSpec): DeviceSide {
  if (spec.statistic === "occurrence") {
    const responses = responsesOf(spec);
    const events = occurrenceEvents(spec, responses);
    const occurrences = responses.map((response, i) =>
      encryptedOccurrence<SharedSlot>(events[i] as string, (random) => drawResponse(response, random)),
    );
    return encryptedAutomata(sharedSlots, spec, occurrences, 1);
  }
  const { automaton, mechanism } = answeredCategories(spec);
  const { categories, categoryOf } = automaton.output;
  const slots = oneHotSlots(automaton, () => true);
  const sums = categorySums(slots.states, categories, categoryOf);
  const sealing = answeredBits<SharedSlot>(sums, (random) => drawHistogramResponses(mechanism, random));
  return encryptedAutomata(sharedSlots, spec, [{ slots, sealing }], 1);
}
