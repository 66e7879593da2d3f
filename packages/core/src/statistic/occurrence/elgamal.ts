import { createElGamalCounter, elgamalIntegers } from "../../encryption/elgamal/elgamal.ts";
import type { RistrettoGroup } from "../../encryption/elgamal/group.ts";
import type { Statistic } from "../entry.ts";
import type { DeviceSide } from "../statistic.ts";
import { occurrenceDevice, occurrenceServer } from "./automaton.ts";
import type { OccurrenceSpec } from "./occurrence.ts";

/** Bits are all that an honest device encrypts. */
const BITS = { minimum: 0, maximum: 1 } as const;

/** The device's half on ElGamal. */
export function elgamalOccurrenceDevice(spec: OccurrenceSpec): DeviceSide {
  return occurrenceDevice(elgamalIntegers, spec);
}

/** Both halves on ElGamal; the server's runs on `group`. */
export function elgamalOccurrence(spec: OccurrenceSpec, group?: RistrettoGroup): Statistic {
  return {
    device: elgamalOccurrenceDevice(spec),
    server: occurrenceServer(createElGamalCounter(BITS, group), spec),
  };
}
