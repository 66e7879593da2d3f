import { createElGamalCounter, type ElGamalCounter, elgamalIntegers } from "../../encryption/elgamal/elgamal.ts";
import type { RistrettoGroup } from "../../encryption/elgamal/group.ts";
import type { Statistic } from "../entry.ts";
import type { DeviceSide } from "../statistic.ts";
import { meanDevice, meanServer } from "./automaton.ts";
import { checkMean, type MeanSpec, meanNoise } from "./mean.ts";

/** ElGamal with the range in which an honest answer lies. */
export function elgamalForMean(spec: MeanSpec, group?: RistrettoGroup): ElGamalCounter {
  checkMean(spec);
  const { reach } = meanNoise(spec);
  return createElGamalCounter({ minimum: -reach, maximum: spec.limit + reach }, group);
}

/** The device's half on ElGamal. */
export function elgamalMeanDevice(spec: MeanSpec): DeviceSide {
  return meanDevice(elgamalIntegers, spec);
}

/** Both halves on ElGamal; the server's runs on `group`. */
export function elgamalMean(spec: MeanSpec, group?: RistrettoGroup): Statistic {
  return { device: elgamalMeanDevice(spec), server: meanServer(elgamalForMean(spec, group), spec) };
}
