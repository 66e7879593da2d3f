import { createElGamalCounter, type ElGamalCounter } from "../../encryption/elgamal/elgamal.ts";
import type { Statistic } from "../entry.ts";
import type { DeviceSide } from "../statistic.ts";
import { meanDevice, meanServer } from "./automaton.ts";
import { checkMean, type MeanSpec, meanNoise } from "./mean.ts";

/** ElGamal with the range in which an honest answer lies. */
export function elgamalForMean(spec: MeanSpec): ElGamalCounter {
  checkMean(spec);
  const { reach } = meanNoise(spec);
  return createElGamalCounter({ minimum: -reach, maximum: spec.limit + reach });
}

/** The device's half on ElGamal. */
export function elgamalMeanDevice(spec: MeanSpec): DeviceSide {
  return meanDevice(elgamalForMean(spec), spec);
}

/** Both halves on ElGamal. */
export function elgamalMean(spec: MeanSpec): Statistic {
  return { device: elgamalMeanDevice(spec), server: meanServer(elgamalForMean(spec), spec) };
}
