import { type DeviceKeyContext, secret } from "@lethe/core/encryption";
import type { Randomness } from "@lethe/core/randomness";
import { createStatistic, type SchemeName } from "@lethe/core/statistic";
import { bytesFrom } from "../randomness/bytes-from.ts";
import type { EncryptedCounting } from "./counting.ts";

/** A task's default. */
const HIDES = 1000;

/** Lethe's occurrence counters, as devices run them; events are of the first counter. */
export function createLetheCounting(
  scheme: SchemeName,
  counters: number,
  ticks: number,
  random: Randomness,
): EncryptedCounting {
  const localEpsilons = new Array<number>(counters).fill(1);
  const { device, server } = createStatistic(scheme, { statistic: "occurrence", ticks, hides: HIDES, localEpsilons });
  const context: DeviceKeyContext = { task: "cost", window: 0, device: new Uint8Array(16), role: "tally", index: 0 };
  const recorder = device.start(server.issueKey(secret(bytesFrom(random, 32)), context), random);
  return {
    system: `Lethe, ${scheme}, ${counters.toLocaleString("en")} counter${counters === 1 ? "" : "s"}`,
    counters,
    stateBytes: device.bytes.state,
    keyBytes: device.bytes.publicKey,
    update: (event) => {
      if (event) recorder.record(0);
      if (recorder.write() === undefined)
        throw new RangeError(`a window of ${ticks} ticks and ${HIDES} page hides has no more writes`);
    },
  };
}
