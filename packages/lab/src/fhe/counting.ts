/**
 * Counting under fully homomorphic encryption, beside Lethe's. `counting.ts` is what both have in common, `tfhe-*.ts`
 * is TFHE (npm's `node-tfhe`, and the OR gate that it lacks), `lethe-counting.ts` is Lethe. Imports core and
 * `randomness`. The experiment `fhe` measures both.
 */

/** A way to keep an encrypted count on a device that cannot read it, with what it costs. */
export interface EncryptedCounting {
  readonly system: string;
  /** How many counters the state holds. */
  readonly counters: number;
  readonly stateBytes: number;
  /** The size of what a device must hold to update its state. */
  readonly keyBytes: number;
  /** Computes the state that is stored after a tick, with an event or without. */
  update(event: boolean): void;
  /** What the owner of the secret key finds in the state. Absent for Lethe, whose answers are noisy by design. */
  read?(): boolean;
  /** Set if an update does only the part that is named here, so that its time is a lower bound. */
  readonly onlyPart?: string;
}
