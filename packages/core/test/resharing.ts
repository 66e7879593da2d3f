import type { DeviceScheme } from "../src/encryption/rerandomizable.ts";
import type { Randomness } from "../src/randomness/index.ts";

/** A slot shared between two servers, without the encryption: what the holder of either server's keys sees of it. */
export interface Shares<Share> {
  readonly leader: Share;
  readonly helper: Share;
}

/** The numbers that are shared. */
export interface Numbers<Share> {
  constant(value: number): Share;
  /** A uniform one. */
  draw(random: Randomness): Share;
  add(left: Share, right: Share): Share;
  negate(share: Share): Share;
}

/** Ways to get it wrong. */
export type ResharingFault = "fresh slots are not shared" | "rerandomizing keeps the shares";

/**
 * Slots as devices against collusion keep them (`sharing/shared-slot.ts`), on any numbers and without ElGamal: x is
 * shared as w and x − w, and wherever a device rerandomizes, w is drawn again. What is stored are places in a list.
 */
export function sharedOn<Share>({ constant, draw, add, negate }: Numbers<Share>, fault?: ResharingFault) {
  const made: Shares<Share>[] = [];
  const reshare = ({ leader, helper }: Shares<Share>, random: Randomness): Shares<Share> => {
    const r = draw(random);
    return { leader: add(leader, r), helper: add(helper, negate(r)) };
  };
  const bytesOf = (place: number): Uint8Array => new Uint8Array(Int32Array.of(place).buffer);
  const decode = (bytes: Uint8Array): Shares<Share> => {
    return made[new Int32Array(bytes.slice().buffer)[0] as number] as Shares<Share>;
  };
  const scheme: DeviceScheme<null, Shares<Share>> & {
    add(left: Shares<Share>, right: Shares<Share>): Shares<Share>;
  } = {
    id: "shares without encryption",
    hidesRerandomizations: true,
    ciphertextBytes: 4,
    publicKeyBytes: 1,
    encrypt: (_, message, random) => {
      const slot = { leader: constant(0), helper: constant(message) };
      return fault === "fresh slots are not shared" ? slot : reshare(slot, random);
    },
    rerandomize: (_, slot, random) => (fault === "rerandomizing keeps the shares" ? slot : reshare(slot, random)),
    add: (left, right) => ({ leader: add(left.leader, right.leader), helper: add(left.helper, right.helper) }),
    encode: (slot) => bytesOf(made.push(slot) - 1),
    decode,
    decodePublicKey: () => null,
  };
  return { scheme, decode };
}

/** Numbers modulo p; each draw takes the next of what `random` gives, which must be below p. */
export function numbersModulo(p: number): Numbers<number> {
  const byte = new Uint8Array(1);
  return {
    constant: (value) => value % p,
    draw: (random) => {
      random(byte);
      return byte[0] as number;
    },
    add: (left, right) => (left + right) % p,
    negate: (share) => (p - share) % p,
  };
}

/** A constant and whole multiples of what was drawn, by the number of the draw. */
export interface LinearForm {
  readonly constant: number;
  readonly multiples: ReadonlyMap<number, number>;
}

/** Numbers on paper: every draw is another unknown. They stand for numbers modulo any prime. */
export function linearForms(): Numbers<LinearForm> {
  let draws = 0;
  return {
    constant: (value) => ({ constant: value, multiples: new Map() }),
    draw: () => ({ constant: 0, multiples: new Map([[draws++, 1]]) }),
    add: (left, right) => {
      const multiples = new Map(left.multiples);
      for (const [draw, times] of right.multiples) {
        const sum = (multiples.get(draw) ?? 0) + times;
        if (sum === 0) multiples.delete(draw);
        else multiples.set(draw, sum);
      }
      return { constant: left.constant + right.constant, multiples };
    },
    negate: ({ constant, multiples }) => ({
      constant: 0 - constant,
      multiples: new Map([...multiples].map(([draw, times]) => [draw, -times])),
    }),
  };
}

/**
 * Whether forms are independent and uniform together, modulo every prime: by elimination over whole numbers in which
 * every pivot is 1 or −1, so that no prime divides one. False also if another order of pivots would be needed.
 */
export function areUniformTogether(forms: readonly LinearForm[]): boolean {
  const rows = forms.map(({ multiples }) => new Map(multiples));
  for (const [i, row] of rows.entries()) {
    const pivot = [...row].find(([, times]) => Math.abs(times) === 1);
    if (!pivot) return false;
    const [draw, unit] = pivot;
    for (const below of rows.slice(i + 1)) {
      const factor = (below.get(draw) ?? 0) * unit;
      if (factor === 0) continue;
      for (const [other, times] of row) {
        const rest = (below.get(other) ?? 0) - factor * times;
        if (rest === 0) below.delete(other);
        else below.set(other, rest);
      }
    }
  }
  return true;
}
