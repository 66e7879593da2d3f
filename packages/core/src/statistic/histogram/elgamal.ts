import { createElGamalCounter, type ElGamalCounter } from "../../encryption/elgamal/elgamal.ts";
import type { Statistic } from "../entry.ts";
import type { DeviceSide } from "../statistic.ts";
import { histogramDevice, histogramServer } from "./automaton.ts";
import type { HistogramSpec } from "./histogram.ts";

/** ElGamal for bits, which are all that an honest device encrypts. */
const bits = (): ElGamalCounter => createElGamalCounter({ minimum: 0, maximum: 1 });

/** The device's half on ElGamal. */
export function elgamalHistogramDevice(spec: HistogramSpec): DeviceSide {
  return histogramDevice(bits(), spec);
}

/** Both halves on ElGamal. */
export function elgamalHistogram(spec: HistogramSpec): Statistic {
  return { device: elgamalHistogramDevice(spec), server: histogramServer(bits(), spec) };
}
