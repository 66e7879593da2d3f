import { counter } from "../automaton/counter.ts";
import { levelSlots } from "../automaton/levels.ts";
import { automataServer, type CounterScheme, encryptedAutomata, type SlotScheme } from "../automaton/machine.ts";
import { type Adding, noisyNumber } from "../automaton/sums.ts";
import { eventOf } from "../room.ts";
import type { DeviceSide, ServerSide } from "../statistic.ts";
import { checkMean, clampedAnswer, drawOnNoEvent, type MeanSpec, meanEstimates, meanNoise } from "./mean.ts";

/**
 * Alg. 4: a counter up to the limit, whose output is the count. It has two changes (docs/errata.md, 2): the sum is
 * Σ_{j=1..k} d_j = min(count, k), for which only the d_j ("at least j") are kept, and the noise has variance k²σ². The
 * device's half, on any scheme that adds.
 */
export function meanDevice<P, C>(scheme: SlotScheme<P, C> & Adding<C>, spec: MeanSpec): DeviceSide {
  checkMean(spec);
  const slots = levelSlots(counter(eventOf(spec), spec.limit));
  const weights = slots.initial.map(() => 1);
  return encryptedAutomata(scheme, spec, [{ slots, sealing: noisyNumber(scheme, weights, meanNoise(spec)) }]);
}

/** The scheme must decrypt every integer from −reach to limit + reach of the noise. */
export function meanServer<P, S, C>(scheme: CounterScheme<P, S, C>, spec: MeanSpec): ServerSide {
  checkMean(spec);
  const noise = meanNoise(spec);
  return {
    ...automataServer(
      scheme,
      { reportLength: 1, keys: 1 },
      {
        read: (sums) => sums.map((sum) => clampedAnswer(spec, noise, sum)),
        onNoEvent: (random) => [drawOnNoEvent(spec, noise, random)],
      },
    ),
    ...meanEstimates(spec),
  };
}
