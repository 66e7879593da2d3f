import { secret } from "@lethe/core/encryption";
import { noisedInvalidCount } from "@lethe/core/privacy";
import type { Randomness } from "@lethe/core/randomness";
import { bytesFrom } from "../randomness/bytes-from.ts";
import type { Attack, Bit } from "./attack.ts";
import { capture, type Ledger, newDevice, sealWithoutNoise, storeAfterTick } from "./captured-ledger.ts";

/**
 * An intruder who holds a device's upload token sends its one report, shaped so that it is valid exactly if the event
 * never happened, and reads how many reports the release calls invalid. Lethe publishes that number only with discrete
 * Laplace noise (docs/threat-model.md).
 */
export function validityOracle(ledger: Ledger): Attack {
  const { server, scheme, slot } = ledger;
  return {
    name: "validity oracle",
    defence: "the number of invalid reports has noise",
    play: async (defended, coins) => {
      const master = secret(bytesFrom(coins.fresh, 32));
      const context = newDevice(coins.fresh);
      const publicKey = server.issueKey(master, context);
      const published = (bit: Bit): number => {
        const stored = storeAfterTick(ledger, publicKey, bit, coins.fresh);
        const report = shape(publicKey, stored, coins.fresh);
        const { valid } = server.open(master, context, report, coins.fresh);
        const invalid = Number(!valid);
        return defended ? noisedInvalidCount(invalid, coins.shared("invalid count")) : invalid;
      };
      // Everybody else is honest. The likelihood ratio grows with the number, and passes 1 between 0 and 1.
      const guess = (bit: Bit): Bit => (published(bit) > 0 ? 1 : 0);
      return [{ effort: 1, of0: guess(0), of1: guess(1) }];
    },
  };

  function shape(publicKey: Uint8Array, stored: Uint8Array, random: Randomness): Uint8Array {
    const state = capture(ledger, stored);
    // Rotated until the secret slot is at the first slot of the canary, where anything but 0 spoils the pattern.
    scheme.rotate(state, -slot);
    return sealWithoutNoise(ledger, scheme.decodePublicKey(publicKey), state, random);
  }
}
