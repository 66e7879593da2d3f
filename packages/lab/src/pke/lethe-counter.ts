import { type DeviceKeyContext, secret } from "@lethe/core/encryption";
import type { Randomness } from "@lethe/core/randomness";
import { createStatistic, type SchemeName } from "@lethe/core/statistic";
import { bytesFrom } from "../randomness/bytes-from.ts";
import { majorityMistake } from "./binomial.ts";
import type { PanPrivateCounter } from "./counter.ts";

/** Which of Lethe's counters. */
export interface LetheCounterOptions {
  readonly scheme: SchemeName;
  readonly ticks: number;
  readonly localEpsilon: number;
}

/** Each client has its own master secret, so all clients can have the same name. */
const KEY: DeviceKeyContext = { task: "counter", window: 0, device: new Uint8Array(16), role: "tally", index: 0 };
const MASTER_BYTES = 32;

/** Lethe's occurrence statistic, as it ships: computationally 0-locally pan-private. */
export function createLetheCounter({ scheme, ticks, localEpsilon }: LetheCounterOptions): PanPrivateCounter {
  const { device, server } = createStatistic(scheme, {
    statistic: "occurrence",
    ticks,
    hides: 0,
    localEpsilons: [localEpsilon],
  });
  const flip = 1 / (1 + Math.exp(server.localEpsilon()));

  /** A device that has just enrolled has stored nothing yet: s₀ is empty. */
  function open(publicKey: Uint8Array, state: Uint8Array, random: Randomness) {
    return state.length === 0 ? device.start(publicKey, random) : device.resume(publicKey, state, false, random);
  }

  return {
    name: `Lethe, ${scheme}`,
    ticks,
    initialize: (random) => {
      const master = bytesFrom(random, MASTER_BYTES);
      return { parameters: server.issueKey(secret(master), KEY), state: new Uint8Array(), server: master };
    },
    update: (publicKey, state, bit, random) => {
      const recorder = open(publicKey, state, random);
      if (bit === 1) recorder.record();
      const stored = recorder.write();
      if (stored === undefined) throw new RangeError(`this counter has ${ticks} ticks, no more`);
      return stored;
    },
    output: (publicKey, state, random) => device.resume(publicKey, state, true, random).seal(state),
    estimate: (masters, reports, random) => {
      const ones = reports
        .map((report, i) => server.open(secret(masters[i] as Uint8Array), KEY, report, random))
        .reduce((sum, { answers }) => sum + (answers[0] as number), 0);
      return server.estimate([ones], reports.length)[0]?.estimate as number;
    },
    mistakeBound: (clients) => majorityMistake(clients, flip),
  };
}
