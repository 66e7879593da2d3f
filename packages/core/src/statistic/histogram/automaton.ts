import type { Automaton } from "../automaton/automaton.ts";
import { counter } from "../automaton/counter.ts";
import { automataServer, type CounterScheme, encryptedAutomata, type SlotScheme } from "../automaton/machine.ts";
import { oneHotSlots } from "../automaton/one-hot.ts";
import { answeredBits } from "../automaton/sealing.ts";
import { categorySums } from "../automaton/sums.ts";
import { eventOf } from "../room.ts";
import type { DeviceSide, ServerSide } from "../statistic.ts";
import { drawHistogramResponses, isHistogramAnswer, respondHistogram } from "./answer.ts";
import { bucketOf, checkHistogram, type HistogramSpec, histogramEstimates, histogramMechanism } from "./histogram.ts";

/**
 * Alg. 3: a counter up to the last edge, with buckets for categories. It has three changes (docs/errata.md, 1 and 5):
 * the shift runs downwards; the mechanism spends ε on the whole vector; and because the scheme adds, the top slot
 * absorbs, so that exactly[k] means "k or more" and the d_i of the paper are not needed.
 */
export function histogramAutomaton(spec: HistogramSpec): Automaton {
  const { edges } = spec;
  return {
    ...counter(eventOf(spec), edges.at(-1) as number),
    output: { kind: "category", categories: edges.length, categoryOf: (count) => bucketOf(edges, count) },
  };
}

/** The device's half, on any scheme that adds. Whatever the mechanism, a report has a bit for every bucket. */
export function histogramDevice<P, C>(scheme: SlotScheme<P, C>, spec: HistogramSpec): DeviceSide {
  checkHistogram(spec);
  const mechanism = histogramMechanism(spec);
  const slots = oneHotSlots(histogramAutomaton(spec), () => true);
  const sums = categorySums(slots.states, spec.edges.length, (count) => bucketOf(spec.edges, count));
  const sealing = answeredBits<C>(sums, (random) => drawHistogramResponses(mechanism, random));
  return encryptedAutomata(scheme, spec, [{ slots, sealing }]);
}

/** The server's half. */
export function histogramServer<P, S, C>(scheme: CounterScheme<P, S, C>, spec: HistogramSpec): ServerSide {
  checkHistogram(spec);
  const mechanism = histogramMechanism(spec);
  return {
    ...automataServer(
      scheme,
      { reportLength: spec.edges.length, keys: 1 },
      {
        read: (bits) => (isHistogramAnswer(mechanism, bits) ? bits : undefined),
        onNoEvent: (random) => respondHistogram(mechanism, 0, random),
      },
    ),
    ...histogramEstimates(mechanism),
  };
}
