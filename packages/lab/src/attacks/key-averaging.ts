import {
  deriveDeviceKeys,
  type KeyPair,
  type LatticePublicKey,
  type LatticeSecretKey,
  secret,
} from "@lethe/core/encryption";
import { addCentredBinomial, type Randomness } from "@lethe/core/randomness";
import { bytesFrom } from "../randomness/bytes-from.ts";
import type { Attack, Bit, Guesses } from "./attack.ts";
import { capture, type Ledger, newDevice, storeAfterTick } from "./captured-ledger.ts";
import { centred, divideInRing, expandedSeed } from "./ring-division.ts";

/** The average error of 1,200 keys rounds to 0 in every coefficient, but for one device in 10,000. */
const EFFORTS = [1, 16, 300, 450, 600, 1200] as const;
/** An attacker who got the same key this many times stops asking. */
const ENOUGH_ALIKE = 16;

/** Returns b of the public key (a, b = −(a·s + e)) at every request. */
type KeyServer = () => Int32Array;

/**
 * An attacker asks for a device's public key many times, averages the errors away, solves for the secret key and opens
 * what they captured of the device. If all of the key is derived, including the error, every request returns the same
 * key.
 */
export function keyAveraging(ledger: Ledger): Attack {
  const { server, scheme, slot } = ledger;
  return {
    name: "key averaging",
    defence: "a key's error is derived, never fresh",
    play: async (defended, { fresh }) => {
      const master = secret(bytesFrom(fresh, 32));
      const context = newDevice(fresh);
      const keys = deriveDeviceKeys(scheme, master, context);
      const derived: KeyServer = () => scheme.decodePublicKey(server.issueKey(master, context)).b;
      const issue = defended ? derived : withFreshErrors(ledger, keys, fresh);
      const publicKey = scheme.encodePublicKey(keys.publicKey);
      const states = ([0, 1] as const).map((bit) => capture(ledger, storeAfterTick(ledger, publicKey, bit, fresh)));

      const average = createAverage(issue());
      const guesses: Guesses[] = [];
      for (const effort of EFFORTS) {
        while (average.asked() < effort) average.add(issue());
        const found = secret(divideInRing(scheme, average.product(), expandedSeed(keys.publicKey)));
        // A slot is 0 until it happens, and uniform from then on.
        const [of0, of1] = states.map((state): Bit => (scheme.decrypt(found, state)[slot] === 0 ? 0 : 1));
        guesses.push({ effort, of0: of0 ?? 0, of1: of1 ?? 0 });
        if (effort >= ENOUGH_ALIKE && average.areAlike()) break;
      }
      return guesses;
    },
  };
}

/** The key server that Lethe must not be: it derives a and s, but draws e at every request. */
function withFreshErrors(
  { scheme }: Ledger,
  { publicKey, secretKey }: KeyPair<LatticePublicKey, LatticeSecretKey>,
  random: Randomness,
): KeyServer {
  const product = { ...scheme.trivial(), c0: expandedSeed(publicKey) };
  scheme.multiply(product, secretKey.reveal());
  return () => {
    const b = product.c0.slice();
    addCentredBinomial(random, b);
    return b.map((coefficient) => -coefficient);
  };
}

/** Estimates a·s from keys with the same a and s: their average, rounded. */
function createAverage(first: Int32Array) {
  const sums = new Float64Array(first.length);
  let asked = 1;
  let alike = true;
  return {
    asked: () => asked,
    areAlike: () => alike,
    add: (b: Int32Array): void => {
      asked++;
      for (let i = 0; i < sums.length; i++) {
        const difference = centred((b[i] ?? 0) - (first[i] ?? 0));
        if (difference !== 0) alike = false;
        sums[i] = (sums[i] ?? 0) + difference;
      }
    },
    product: (): Int32Array => first.map((b, i) => -(b + Math.round((sums[i] ?? 0) / asked))),
  };
}
