/**
 * Section 6 of the paper, run: public-key encryption out of any pan-private counter. `counter.ts` is the counter as the
 * paper sees it, `lethe-counter.ts` and `running-count.ts` are two of them, `encryption.ts` is theorem 6.1,
 * `small-space-encryption.ts` theorem 6.2, and `transmission.ts` sends messages. Imports core and `randomness`. The
 * experiment `pke-from-pan-privacy` runs it.
 */
import type { Randomness } from "@lethe/core/randomness";

/** Whether something happened in a tick. */
export type Bit = 0 | 1;

/**
 * A locally pan-private counter as section 6 of the paper sees it: Initialize, State, Out and Estimate, bytes in and
 * bytes out. The constructions know nothing else about it.
 */
export interface PanPrivateCounter {
  readonly name: string;
  /** T: how many updates a client makes before its output. */
  readonly ticks: number;
  initialize(random: Randomness): Client;
  /** State: what the client stores after a tick in which something happened (1) or not (0). */
  update(parameters: Uint8Array, state: Uint8Array, bit: Bit, random: Randomness): Uint8Array;
  /** Out: the client's one message to the server, made from the state after the last tick. */
  output(parameters: Uint8Array, state: Uint8Array, random: Randomness): Uint8Array;
  /** Estimate: on how many of these clients something happened. Servers and outputs are in the same order. */
  estimate(servers: readonly Uint8Array[], outputs: readonly Uint8Array[], random: Randomness): number;
  /**
   * Its accuracy. Let something happen on all of the clients or on none: this is at least the probability that the
   * estimate is nearer to the wrong one of the two.
   */
  mistakeBound(clients: number): number;
}

/** What Initialize sets up. The client's two parts are public; `server` is what only the server keeps. */
interface Client {
  readonly parameters: Uint8Array;
  /** s₀ */
  readonly state: Uint8Array;
  readonly server: Uint8Array;
}

/**
 * The smallest odd number of clients, so that no vote is tied, with which all `bits` are read right except with
 * probability `failure`.
 */
export function clientsFor(counter: Pick<PanPrivateCounter, "mistakeBound">, bits: number, failure: number): number {
  const enough = (half: number): boolean => bits * counter.mistakeBound(2 * half + 1) <= failure;
  let high = 1;
  while (!enough(high)) high *= 2;
  let low = 0;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (enough(middle)) high = middle;
    else low = middle + 1;
  }
  return 2 * low + 1;
}
