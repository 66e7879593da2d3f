import { sumUpTo } from "../../privacy/accounting/server-noise.ts";
import { createSharedBits, type SharedBit } from "../../sharing/shared-bit.ts";
import { counter } from "../automaton/counter.ts";
import { levelSlots } from "../automaton/levels.ts";
import { encryptedAutomata } from "../automaton/machine.ts";
import { trueBits } from "../automaton/sealing.ts";
import { eventOf } from "../room.ts";
import { serverNoised } from "../server-noise.ts";
import type { StatisticTypes } from "../table.ts";
import type { DeviceInContext, TwoServerParts } from "../two-server.ts";
import { checkMean, consistentMeans } from "./mean.ts";

type Mean = StatisticTypes["mean"]["twoServers"];

/**
 * The device's half. It reports the bits "at least j events" for j from 1 to the limit, whose sum is min(count, limit);
 * that each is a bit is all there is to check.
 */
export function twoServerMeanDevice(spec: Mean): DeviceInContext {
  checkMean(spec);
  const slots = levelSlots(counter(eventOf(spec), spec.limit));
  const sealing = trueBits<SharedBit>(slots.initial.map((_, slot) => [slot]));
  return (ctx) => encryptedAutomata(createSharedBits(ctx), spec, [{ slots, sealing }], 1);
}

/** Both halves, but for the sizes. */
export function twoServerMean(spec: Mean): TwoServerParts {
  return {
    device: twoServerMeanDevice(spec),
    ...serverNoised({
      sigmas: [spec.sigma],
      exposure: sumUpTo(spec.limit),
      isAverage: true,
      consistent: consistentMeans(spec),
    }),
    answerOf: Array.from({ length: spec.limit }, () => 0),
    answers: 1,
    isOneHot: false,
    onNoEvent: () => [0],
  };
}
