import { randomnessFrom } from "@lethe/core/randomness";
import { indexedDbStore } from "@lethe/device";
import { brokenMaker, createDuel, type Device, type Duel, ROUND_TICKS, type Side, sdkMaker } from "@lethe/lab/duel";
import { counterDevice } from "./ordinary-counter.ts";

/** Whom the game is played against: Lethe, and two kinds of devices that show who clicked. */
export const OPPONENTS = ["lethe", "counter", "broken"] as const;
/** One of them. */
export type Opponent = (typeof OPPONENTS)[number];

/** Each in the words of the page. */
export const OPPONENT_WORDS: Readonly<Record<Opponent, { readonly title: string; readonly about: string }>> = {
  lethe: {
    title: "Lethe",
    about: "Two devices with Lethe's SDK and its store. A player who wins against them for long has found a leak.",
  },
  counter: {
    title: "an ordinary counter",
    about: "Two devices that count in a plain file. You should win: that shows that the game can be won.",
  },
  broken: {
    title: "Lethe, broken on purpose",
    about:
      "Two devices that leave out a step of Lethe: they store ciphertexts without rerandomizing them. A few bytes differ: look closely, or read the table.",
  },
};

/** What the two devices of a round are called. */
export const DEVICE_NAMES: Readonly<Record<Side, string>> = { left: "device A", right: "device B" };

/** Rounds of several tabs follow each other: their devices have the same names. */
const LOCK = "lethe console game";
const random = randomnessFrom(globalThis.crypto);

/** A game against devices of one kind. */
export async function openDuel(opponent: Opponent): Promise<Duel> {
  const duel = createDuel(await opener(opponent), random);
  return { play: () => navigator.locks.request(LOCK, duel.play) };
}

async function opener(opponent: Opponent): Promise<(side: Side) => Device | Promise<Device>> {
  switch (opponent) {
    case "lethe":
      return sdkDevices();
    case "counter":
      return () => counterDevice(Date.now(), ROUND_TICKS);
    case "broken":
      return brokenMaker("no rerandomization", false, random);
  }
}

/** Devices with the real SDK, each with its record in IndexedDB, of which nothing is left after the round. */
async function sdkDevices(): Promise<(side: Side) => Promise<Device>> {
  const maker = await sdkMaker(random);
  return async (side) => {
    const name = `console game ${side}`;
    // What a tab that was closed in a round has left.
    await wipe(name);
    const device = await maker(() => indexedDbStore(name));
    return {
      ...device,
      close: async () => {
        await device.close?.();
        await wipe(name);
      },
    };
  };
}

async function wipe(name: string): Promise<void> {
  const store = indexedDbStore(name);
  await store.wipe();
  await store.close();
}
