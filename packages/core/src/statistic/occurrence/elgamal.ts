import { createElGamalCounter, type ElGamalCounter } from "../../encryption/elgamal/elgamal.ts";
import type { Statistic } from "../entry.ts";
import type { DeviceSide } from "../statistic.ts";
import { occurrenceDevice, occurrenceServer } from "./automaton.ts";
import type { OccurrenceSpec } from "./occurrence.ts";

/** ElGamal for bits, which are all that an honest device encrypts. */
const bits = (): ElGamalCounter => createElGamalCounter({ minimum: 0, maximum: 1 });

/** The device's half on ElGamal. */
export function elgamalOccurrenceDevice(spec: OccurrenceSpec): DeviceSide {
  return occurrenceDevice(bits(), spec);
}

/** Both halves on ElGamal. */
export function elgamalOccurrence(spec: OccurrenceSpec): Statistic {
  return { device: elgamalOccurrenceDevice(spec), server: occurrenceServer(bits(), spec) };
}
