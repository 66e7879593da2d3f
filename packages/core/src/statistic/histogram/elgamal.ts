import { createElGamalCounter, elgamalIntegers } from "../../encryption/elgamal/elgamal.ts";
import type { RistrettoGroup } from "../../encryption/elgamal/group.ts";
import type { Statistic } from "../entry.ts";
import type { DeviceSide } from "../statistic.ts";
import { histogramDevice, histogramServer } from "./automaton.ts";
import type { HistogramSpec } from "./histogram.ts";

/** Bits are all that an honest device encrypts. */
const BITS = { minimum: 0, maximum: 1 } as const;

/** The device's half on ElGamal. */
export function elgamalHistogramDevice(spec: HistogramSpec): DeviceSide {
  return histogramDevice(elgamalIntegers, spec);
}

/** Both halves on ElGamal; the server's runs on `group`. */
export function elgamalHistogram(spec: HistogramSpec, group?: RistrettoGroup): Statistic {
  return {
    device: elgamalHistogramDevice(spec),
    server: histogramServer(createElGamalCounter(BITS, group), spec),
  };
}
