/** A way of keeping an encrypted count on a device that cannot read it, as far as its costs go. */
export interface EncryptedCounting {
  readonly system: string;
  /** How many counters the state holds. */
  readonly counters: number;
  readonly stateBytes: number;
  /** What a device has to hold to update its state. */
  readonly keyBytes: number;
  /** Takes the state through a tick, with an event or without, to what is stored next. */
  update(event: boolean): void;
  /** What the owner of the secret key finds in the state. Lethe's answers are noisy: what they are worth is shown elsewhere. */
  read?(): boolean;
  /** Set if an update is only the part of it that is named here, so that its time is a lower bound. */
  readonly onlyPart?: string;
}
