import { type DeviceKeyContext, secret } from "@lethe/core/encryption";
import { type LedgerResponse, ledgerResponseWithBits, respond } from "@lethe/core/privacy";
import { bytesFrom } from "../randomness/bytes-from.ts";
import type { Attack, Bit, Coins, Guesses } from "./attack.ts";
import {
  capture,
  keyContext,
  type Ledger,
  LOCAL_EPSILON,
  newDevice,
  requireStored,
  sealWithoutNoise,
} from "./captured-ledger.ts";

/** Honest devices beside the victim, whose bits are 0, as the attacker knows. */
export const CROWD = 30;
/** A quarter of them is four standard deviations of what the others say. */
const COPIES = 44;
const EFFORTS = [1, 2, 5, 11, 22, COPIES] as const;

/** The key context of all devices if they share one key. */
const EVERYONE = keyContext(new Uint8Array(16));

/**
 * An intruder copies what a device has stored, rerandomizes it, and sends the copies as reports of invented devices.
 * Then they read the released sum, in which the victim's own honest report is counted as well.
 */
export function replayAmplification(ledger: Ledger): Attack {
  const { device, server, scheme, slot, choice } = ledger;
  const response = responseOf(choice.plaintextBits);

  function sumsAfterCopies(bit: Bit, defended: boolean, coins: Coins): number[] {
    const { fresh } = coins;
    const master = secret(bytesFrom(fresh, 32));
    const keyOf = (context: DeviceKeyContext): DeviceKeyContext => (defended ? context : EVERYONE);
    const counting = coins.shared("tally");
    const count = (context: DeviceKeyContext, report: Uint8Array): number =>
      server.open(master, keyOf(context), report, counting).answers[0] ?? 0;

    const victim = newDevice(fresh);
    const publicKey = server.issueKey(master, keyOf(victim));
    const recorder = device.start(publicKey, fresh);
    if (bit) recorder.record(0);
    const stored = requireStored(recorder.write());
    let sum = count(victim, recorder.seal(stored)) + crowdSum(response, coins);

    const decodedKey = scheme.decodePublicKey(publicKey);
    return Array.from({ length: COPIES }, (_, copy) => {
      const state = capture(ledger, stored);
      // Read as 1 from `size` on: 0 stays below under either of these, whatever else the slot holds passes it under one.
      scheme.addToSlot(state, slot, copy % 2 ? response.size - 1 : 0);
      sum += count(newDevice(fresh), sealWithoutNoise(ledger, decodedKey, state, fresh));
      return sum;
    });
  }

  /** Half-way between the sums that are expected for 0 and for 1. */
  function threshold(copies: number, defended: boolean): number {
    const own = 1 - 2 * response.flip;
    const without = (CROWD + 1) * response.flip;
    // What cannot be opened counts as an answer to "no event"; the attacker knows that.
    return defended ? without + copies * response.flip + own / 2 : without + (copies / 2 + own) / 2;
  }

  return {
    name: "replay amplification",
    defence: "every device has its own key",
    play: async (defended, coins) => {
      const sums = ([0, 1] as const).map((bit) => sumsAfterCopies(bit, defended, coins));
      return EFFORTS.map((effort): Guesses => {
        const [of0, of1] = sums.map((sum): Bit => ((sum[effort - 1] ?? 0) > threshold(effort, defended) ? 1 : 0));
        return { effort, of0: of0 ?? 0, of1: of1 ?? 0 };
      });
    },
  };
}

/**
 * The sum of the other devices' answers: the mechanism of the ledger without its encryption, which changes no answer.
 */
function crowdSum(response: LedgerResponse, coins: Coins): number {
  const answering = coins.shared("crowd");
  return Array.from({ length: CROWD }, () => respond(response, 0, answering)).reduce<number>((a, b) => a + b, 0);
}

function responseOf(bits: number): LedgerResponse {
  const response = ledgerResponseWithBits(LOCAL_EPSILON, bits);
  if (response === undefined) throw new RangeError("the ledger has slots of another width");
  return response;
}
