import { estimateQuantiles, gaussianTails, projectToHistogram } from "../../estimate/index.ts";
import { CATEGORIES, serverNoise } from "../../privacy/accounting/server-noise.ts";
import { createSharedBits, type SharedBit } from "../../sharing/shared-bit.ts";
import { encryptedAutomata } from "../automaton/machine.ts";
import { answeredBits, trueBits } from "../automaton/sealing.ts";
import { eventOf } from "../room.ts";
import { SERVERS, serverNoised } from "../server-noise.ts";
import type { StatisticTypes } from "../table.ts";
import type { DeviceInContext, TwoServerParts } from "../two-server.ts";
import { drawHistogramResponses, respondHistogram } from "./answer.ts";
import { bucketLines } from "./bucket-lines.ts";
import { checkHistogram, histogramEstimates, histogramMechanism } from "./histogram.ts";

type Histogram = StatisticTypes["histogram"]["twoServers"];

/** A shared bit for every bucket: all kept if the noise is the servers', else answered by the mechanism. */
export function twoServerHistogramDevice(spec: Histogram): DeviceInContext {
  checkHistogram(spec);
  const mechanism = spec.noise === "servers" ? undefined : histogramMechanism(spec);
  const { fronts, ...slots } = bucketLines(eventOf(spec), spec.edges);
  const sealing = mechanism
    ? answeredBits<SharedBit>(fronts, (random) => drawHistogramResponses(mechanism, random))
    : trueBits<SharedBit>(fronts);
  return (ctx) => encryptedAutomata(createSharedBits(ctx), spec, [{ slots, sealing }], 1);
}

/** The buckets' bits are the answers. Exactly one is 1, unless the devices answer bucket by bucket. */
export function twoServerHistogram(spec: Histogram): TwoServerParts {
  const { edges } = spec;
  const layout = {
    device: twoServerHistogramDevice(spec),
    answerOf: edges.map((_, bucket) => bucket),
    answers: edges.length,
  };
  if (spec.noise === "servers") {
    const { sigma } = spec;
    const { sigma2 } = serverNoise(CATEGORIES, sigma);
    return {
      ...layout,
      ...serverNoised({ sigmas: edges.map(() => sigma), exposure: CATEGORIES, consistent: projectToHistogram }),
      quantiles: (sums, devices, asked, parts = 1) => {
        const tails = gaussianTails(sums, sigma2, parts * SERVERS);
        return estimateQuantiles({ devices, consistent: projectToHistogram(sums, devices), tails }, asked);
      },
      isOneHot: true,
      onNoEvent: () => edges.map((_, bucket) => Number(bucket === 0)),
    };
  }
  const mechanism = histogramMechanism(spec);
  return {
    ...layout,
    ...histogramEstimates(mechanism),
    isOneHot: mechanism.name === "kary",
    onNoEvent: (random) => respondHistogram(mechanism, 0, random),
  };
}
