import { sumUpTo } from "../../privacy/accounting/server-noise.ts";
import { createSharedBits } from "../../sharing/shared-bit.ts";
import { type PaperAlgorithm, paperDevice } from "../paper/ciphertext-vector.ts";
import { serverNoised } from "../server-noise.ts";
import type { StatisticTypes } from "../table.ts";
import type { DeviceInContext, TwoServerParts } from "../two-server.ts";
import { checkMean, consistentMeans } from "./mean.ts";

type Mean = StatisticTypes["mean"]["twoServers"];

/**
 * The bits "at least j events" for j from 1 to the limit, whose sum is min(count, limit); that each is a bit is all
 * there is to check.
 */
function algorithm<C>({ limit }: Mean): PaperAlgorithm<C> {
  return {
    saturation: limit,
    metrics: 1,
    stateLength: limit,
    reportLength: limit,
    keys: 1,
    initialize: ({ encrypt }) => Array.from({ length: limit }, (_, i) => encrypt(0, i)),
    update: (atLeast, _metric, { encrypt }) => [encrypt(1, 0), ...atLeast.slice(0, -1)],
    sendToServer: (atLeast, { rerandomize }) => atLeast.map(rerandomize),
  };
}

/** The device's half. */
export function twoServerMeanDevice(spec: Mean): DeviceInContext {
  checkMean(spec);
  return (ctx) => paperDevice(createSharedBits(ctx), spec, algorithm(spec));
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
