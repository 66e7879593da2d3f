import { decodeBase64url, encodeBase64url, join } from "@lethe/core/device";
import { createDatabase, fail } from "./database.ts";
import type { Store } from "./store.ts";
import { type ClosableTabs, tabsOf } from "./tabs.ts";
import { decodeVersion, encodeVersion } from "./version.ts";

/**
 * Chromium makes a file of a value beyond 64 KiB, asks the page for its bytes, and gets none from one that has closed.
 */
const PART_BYTES = 32_768;

/** What is stored, as far as the next save must know it. */
interface Places {
  /** Of the newest version. */
  generation: number;
  /** Of the complete version in each slot: the next save goes to the one with the older. */
  readonly slots: [number, number];
  /** Of the version in localStorage. */
  local: number;
  /** Whether there is a record in the form that the SDK had before it had slots. */
  hasOld: boolean;
}

/**
 * Keeps the record in the database `lethe` of the page's origin, under `name`. A save never touches the version before
 * it: it goes to the other of two slots, in parts, with a generation and a check. The newest complete version is
 * loaded, so a browser that stops half-way through a transaction destroys nothing. A durable save fills all places, one
 * after the other: then nothing older can be loaded any more.
 *
 * A save with `leaving` goes to localStorage as well, at once. WebKit (WebKitGTK 2.50) keeps nothing that a page puts
 * into IndexedDB while it is closed or left; of a transaction with a deletion and puts, it keeps the deletion alone. It
 * keeps what localStorage got. This copy stays until the next save with `leaving` or `durable`, or `wipe`: it may be as
 * old as the visit. It is one more stored version among those that browsers keep on disk until they compact their
 * files.
 *
 * One tab writes at a time, by a Web Lock; the others hand it their events over a broadcast channel.
 *
 * `close` may follow a `save` at once: what is under way is completed.
 */
export function indexedDbStore(name: string): Store & { readonly tabs: ClosableTabs } {
  const scope = `lethe:${name}`;
  /**
   * Every tab that writes or waits holds this lock in shared mode: a tab that gets it alone knows that the others have
   * ended.
   */
  const consent = `${scope} consent`;
  /**
   * A message means that consent is withdrawn. Never closed: an application may withdraw after it closed everything
   * else.
   */
  const withdrawals = new BroadcastChannel(consent);
  // Earlier versions of the SDK use another protocol, on a channel that is named by the scope alone.
  const tabs = tabsOf(`${scope} tabs`);
  const { perform, close } = createDatabase();
  /** Both undefined until somebody looked. */
  let looking: Promise<unknown> | undefined;
  let places: Places | undefined;

  /**
   * A part's key is the name, the slot, and where the part begins; in the old form without the slot. Numbers come
   * before texts, texts before arrays.
   */
  const old = () => IDBKeyRange.bound([name], [name, ""]);
  const partsOf = (slot: number) => IDBKeyRange.bound([name, `${slot}`, 0], [name, `${slot}`, []]);

  /** Undefined where there is no localStorage, as in workers, and where it is blocked or full. */
  function locally<T>(act: (storage: Storage) => T): T | undefined {
    try {
      return act(localStorage);
    } catch {
      return undefined;
    }
  }

  async function look(): Promise<Uint8Array | undefined> {
    places = undefined;
    const requests = await perform("readonly", (records) =>
      [partsOf(0), partsOf(1), old()].map((range): IDBRequest<Uint8Array[]> => records.getAll(range)),
    );
    const [one, two, before] = requests.map(({ result }) => join(result)) as [Uint8Array, Uint8Array, Uint8Array];
    const slots = [decodeVersion(one), decodeVersion(two)];
    const generations: [number, number] = [slots[0]?.generation ?? 0, slots[1]?.generation ?? 0];
    const local = locally((storage) => decodeVersion(decodeBase64url(scope, storage.getItem(scope) ?? "")));
    let version = slots[generations[0] > generations[1] ? 0 : 1] ?? { generation: 0, record: before };
    // With the same generation, the database's is the later: of a page that began before what the last one left was
    // here.
    if (local && local.generation > version.generation) version = local;
    const { generation, record } = version;
    places = { generation, slots: generations, local: local?.generation ?? 0, hasOld: before.length > 0 };
    return record.length > 0 ? record : undefined;
  }

  function load(): Promise<Uint8Array | undefined> {
    const found = look();
    looking = found;
    found.catch(() => {
      looking = undefined;
    });
    return found;
  }

  async function put(
    to: Places,
    slot: 0 | 1,
    generation: number,
    version: Uint8Array,
    durable: boolean,
  ): Promise<void> {
    const write = (records: IDBObjectStore): void => {
      for (let at = 0; at < version.length; at += PART_BYTES) {
        // A copy: of a view, the whole buffer would be stored.
        records.put(version.slice(at, at + PART_BYTES), [name, `${slot}`, at]);
      }
    };
    await perform("readwrite", write, durable ? "strict" : "relaxed");
    to.slots[slot] = generation;
  }

  async function save(to: Places, record: Uint8Array, durable: boolean, leaving: boolean): Promise<void> {
    const generation = ++to.generation;
    const version = encodeVersion({ generation, record });
    const keepLocally = (): void => {
      to.local = generation;
      locally((storage) => storage.setItem(scope, encodeBase64url(version)));
    };
    // Not the one with the newest version that is complete, however many are under way.
    const slot = to.slots[1] < to.slots[0] ? 1 : 0;
    const saved = put(to, slot, generation, version, durable);
    if (leaving) keepLocally();
    await saved;
    // Whatever came after it is newer, too.
    if (durable && to.generation === generation) await put(to, slot ? 0 : 1, generation, version, durable);
    if (durable && to.local < generation) keepLocally();
    if (!to.hasOld) return;
    to.hasOld = false;
    await perform("readwrite", (records) => records.delete(old()));
  }

  return {
    tabs,
    lock: (signal, onWithdrawn) =>
      new Promise<(() => Promise<void>) | undefined>((resolve, reject) => {
        withdrawals.onmessage = onWithdrawn ?? null;
        const { locks } = navigator;
        const held: Promise<void> = locks.request(consent, { signal, mode: "shared" }, () =>
          locks.request(
            scope,
            { signal },
            () =>
              new Promise<void>((release) => {
                resolve(() => {
                  tabs.stop();
                  release();
                  return held;
                });
              }),
          ),
        );
        held.catch((error) => (signal.aborted ? resolve(undefined) : reject(error)));
      }).catch(fail),
    load,
    save: async (record, { durable, leaving = false }) => {
      // Not a moment later, if it is known where to: a page that closes has none.
      if (!places) await (looking ?? load());
      if (places) await save(places, record, durable, leaving);
    },
    wipe: () =>
      new Promise<void>((resolve) => {
        // The lock first: a tab that asks to share it from now on waits, and begins after this.
        resolve(
          navigator.locks.request(consent, async () => {
            looking = places = undefined;
            locally((storage) => storage.removeItem(scope));
            await perform("readwrite", (records) => records.delete(IDBKeyRange.bound([name], [name, []])), "strict");
          }),
        );
        withdrawals.postMessage(0);
      }).catch(fail),
    close: async () => {
      withdrawals.onmessage = null;
      tabs.close();
      await close();
    },
  };
}
