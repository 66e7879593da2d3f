import type { Task } from "@lethe/core/message";
import type { Randomness } from "@lethe/core/randomness";
import { type Lethe, memoryStore, openLethe, type Store } from "@lethe/device";
import type { Device } from "./games.ts";
import { createIssuer, type Issuer } from "./issuer.ts";
import type { Subject } from "./subjects.ts";

/** What the SDK counts in these games. */
export const SDK_SUBJECT: Subject = { statistic: "occurrence", scheme: "lattice", mode: "one-server" };

const TICKS = 32;
const TICK_SECONDS = 300;
const TICK_MS = 1000 * TICK_SECONDS;
const WINDOW_MS = TICKS * TICK_MS;
/** A window begins, in 2026. */
const START_MS = 185_000 * WINDOW_MS;

const METRIC = "it.happened";
const TASK: Task = {
  version: 1,
  task: "intrusion",
  tickSeconds: TICK_SECONDS,
  ticks: TICKS,
  hides: 8 * TICKS,
  graceSeconds: 60,
  mode: "one-server",
  scheme: "lattice",
  minimumDevices: 1,
  metrics: [{ name: METRIC, statistic: "occurrence", localEpsilon: 1 }],
};

/** Seconds after opening at which a session has written by itself. */
const SESSION_SECONDS = [2, 6, 22];

/** What else a tick has: nothing, a page that closes after the event, or a page that has just opened. */
type Visit = "none" | "page closes" | "page opens";
const VISITS: readonly Visit[] = ["none", "page closes", "page opens"];

/**
 * Programs with the SDK, as they run on devices; they store in memory, unless each gets another medium. The views
 * have what the SDK saves in its store, and when. The SDK draws its own randomness, so a seed does not reproduce these
 * games.
 */
export async function sdkMaker(random: Randomness): Promise<(medium?: Medium) => Promise<Device>> {
  const issuer = await createIssuer(TASK, random);
  return (medium = inMemory()) => openSdk(issuer, medium);
}

/** Where a device stores: the store of each of its pages, one after another, all of the same record. */
export type Medium = () => Store;

function inMemory(): Medium {
  const store = memoryStore();
  return () => store;
}

async function openSdk(issuer: Issuer, medium: Medium): Promise<Device> {
  const { server, task, operatorKey, fetch } = issuer;
  let now = START_MS;
  let saves: { readonly bytes: Uint8Array; readonly size: number; readonly at: number }[] = [];
  let failure: unknown;
  let fail = (_: unknown): void => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch((problem) => {
    failure = problem;
  });

  async function openPage(): Promise<Lethe> {
    const store = medium();
    const opened = await openLethe({
      server,
      task,
      operatorKey,
      fetch,
      clock: () => now,
      store: {
        ...store,
        save: (record, how) => {
          saves.push({ bytes: upToState(record, issuer), size: record.length, at: (now % TICK_MS) / TICK_MS });
          return store.save(record, how);
        },
      },
      onProblem: fail,
    });
    // With a slow store it opens before it counts.
    await Promise.race([opened.ready, failed]);
    await opened.sendPending();
    return opened;
  }

  async function reopen(): Promise<void> {
    await lethe.close();
    lethe = await openPage();
  }

  let lethe = await openPage();

  /** Whatever is due while the page stays open. */
  async function stayOpen(): Promise<void> {
    const opened = now;
    for (const seconds of SESSION_SECONDS) {
      now = opened + 1000 * seconds;
      await lethe.sendPending();
    }
  }

  return {
    // With the last tick the window ends, and the record becomes a report.
    segments: TICKS - 1,
    parts: "coefficients",
    live: async (tick, happens) => {
      saves = [];
      now = START_MS + (tick + 0.5) * TICK_MS;
      const visit = VISITS[tick % VISITS.length];
      if (visit === "page opens") await reopen();
      if (happens) lethe.record(METRIC);
      // Lets the event trigger whatever it triggers.
      await lethe.sendPending();
      const [memory] = lethe.inspect().memory;
      if (visit === "page closes") await reopen();
      if (visit !== "none") await stayOpen();
      now = START_MS + (tick + 1) * TICK_MS;
      await lethe.sendPending();
      // A device that does not count would reveal nothing, and prove nothing.
      if (!memory || saves.length === 0) throw new Error("the SDK does not count", { cause: failure });
      return { dump: memory.ciphertexts, stored: saves };
    },
    close: () => lethe.close(),
  };
}

const RECORD_HEADER_BYTES = 6;

/** The record up to its ciphertexts, so that it ends where a dump ends: without the next window's keys and zeros. */
function upToState(record: Uint8Array, { publicKeysBytes, stateBytes }: Issuer): Uint8Array {
  const head = new DataView(record.buffer, record.byteOffset, record.length).getUint32(2, true);
  return record.slice(0, RECORD_HEADER_BYTES + head + publicKeysBytes + stateBytes);
}
