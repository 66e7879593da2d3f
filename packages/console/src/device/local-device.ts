import { beginningOf, type Task, windowAt } from "@lethe/core/message";
import { randomnessFrom } from "@lethe/core/randomness";
import { indexedDbStore, type LetheError, openLethe } from "@lethe/device";
import { createIssuer } from "@lethe/lab/duel";
import type { LocalDevice } from "./running-device.ts";
import { watched } from "./watched-store.ts";

const EVENTS = ["button.clicked", "export.failed"];
const TICK_SECONDS = 300;
/** A day of ticks. */
const TICKS = 288;
const TASK: Task = {
  version: 1,
  task: "inside",
  tickSeconds: TICK_SECONDS,
  ticks: TICKS,
  hides: TICKS,
  graceSeconds: 3600,
  mode: "one-server",
  scheme: "lattice",
  minimumDevices: 1,
  metrics: EVENTS.map((name) => ({ name, statistic: "occurrence" as const, localEpsilon: 1 })),
};
/** In the database of the SDK. */
const NAME = "console inside";

/**
 * Opens a device of the real SDK with its real store. Its keys come from an issuer in this page, and its clock moves
 * only when a tick is asked for; reports go to the same issuer, which drops them. There is one such device per browser:
 * it wipes what a closed tab left, and ends the one of another tab.
 */
export async function openLocalDevice(): Promise<LocalDevice> {
  const { store, latest, settled } = watched(indexedDbStore(NAME));
  await store.wipe();
  const { server, task, operatorKey, fetch } = await createIssuer(TASK, randomnessFrom(globalThis.crypto));
  const begins = 1000 * beginningOf(TASK, windowAt(TASK, Date.now() / 1000));
  let now = begins;
  const problems: LetheError[] = [];
  let fail = (_: LetheError): void => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => undefined);
  const lethe = await openLethe({
    ...{ server, task, operatorKey, fetch, store },
    clock: () => now,
    onProblem: (problem) => {
      problems.push(problem);
      fail(problem);
    },
  });
  await Promise.race([lethe.ready, failed]);
  const isCounting = (): boolean => lethe.inspect().memory.length > 0;
  const wipe = async (): Promise<void> => {
    await lethe.setConsent(false);
    await lethe.close();
  };
  return {
    events: EVENTS,
    ticks: TICKS,
    passed: () => ((now - begins) / (1000 * TICK_SECONDS)) % TICKS,
    record: (name) => {
      const before = problems.length;
      lethe.record(name);
      return problems[before]?.message;
    },
    stored: () => (isCounting() ? latest() : undefined),
    isCounting,
    tick: async () => {
      now += 1000 * TICK_SECONDS;
      await lethe.sendPending();
      await settled();
      return isCounting();
    },
    wipe,
    // If another tab has wiped it, what is stored is that tab's.
    close: () => (isCounting() ? wipe() : lethe.close()),
  };
}
