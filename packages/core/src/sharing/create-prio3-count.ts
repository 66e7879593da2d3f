import { createFastKeccak } from "./keccak.ts";
import { createPrio3CountOn, type Prio3Count } from "./prio3-count.ts";

/** Prio3Count as quick as this machine can; a page whose policy forbids WebAssembly uses `createPrio3CountOn`. */
export function createPrio3Count(shares: number): Prio3Count {
  return createPrio3CountOn(createFastKeccak(), shares);
}

/** For a leader and one helper. */
export const prio3Count: Prio3Count = createPrio3Count(2);
