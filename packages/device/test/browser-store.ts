/// <reference lib="dom" />
import { indexedDbStore } from "../src/store/indexed-db.ts";

/**
 * A tab that counts how often it met each event, all of them named by numbers, in a record of one byte each. It saves
 * only when it closes.
 */
const tab = {
  store: indexedDbStore("test"),
  counts: undefined as Uint8Array | undefined,
  isWriter: false,

  async write(events: number): Promise<void> {
    await tab.store.lock(new AbortController().signal);
    const counts = (await tab.store.load()) ?? new Uint8Array(events);
    tab.counts = counts;
    tab.store.tabs?.receive(count);
    tab.isWriter = true;
    addEventListener("pagehide", () => void tab.store.save(counts, { durable: false }));
  },

  /** One event after the other, with the numbers from `first` on. */
  async emit(first: number, events: number): Promise<void> {
    for (let event = first; event < first + events; event++) {
      if (tab.isWriter) count(`${event}`);
      else tab.store.tabs?.forward(`${event}`, 1);
      // Many at once at times, at times a few milliseconds apart.
      if (event % 3 === 0) await new Promise((resolve) => setTimeout(resolve, event % 20));
    }
  },
};

function count(name: string): void {
  const { counts } = tab;
  const event = Number(name);
  if (counts) counts[event] = (counts[event] ?? 0) + 1;
}

/** A record that no part of another can be mistaken for; long enough for three parts by default. */
function recordOf(version: number, length = 70_000): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (i * i + 7 * version) % 251);
}

/** What is behind the store, and records that are named by numbers. */
const records = {
  save: (version: number, how: { durable?: boolean; leaving?: boolean; length?: number } = {}): Promise<void> =>
    tab.store.save(recordOf(version, how.length), { durable: false, ...how }),

  /** Null if there is none, -1 if it is not one of these. */
  async load(): Promise<number | null> {
    const found = await tab.store.load();
    if (!found) return null;
    const versions = Array.from({ length: 30 }, (_, version) => version);
    return versions.find((version) => `${recordOf(version, found.length)}` === `${found}`) ?? -1;
  },

  saveOnLeaving: (version: number): void =>
    addEventListener("pagehide", () => void records.save(version, { leaving: true })),

  /** Of the database. */
  keys: (): Promise<IDBValidKey[]> => inDatabase((rows) => rows.getAllKeys()),
  get: async (key: IDBValidKey): Promise<number[]> => [...(await inDatabase<Uint8Array>((rows) => rows.get(key)))],
  put: (key: IDBValidKey, bytes: readonly number[]): Promise<unknown> =>
    inDatabase((rows) => rows.put(Uint8Array.from(bytes), key)),
  remove: (key: IDBValidKey): Promise<unknown> => inDatabase((rows) => rows.delete(key)),
  /** As the SDK stored it before it had slots. */
  async putOld(version: number): Promise<void> {
    const record = recordOf(version);
    for (let at = 0; at < record.length; at += 32_768) {
      await records.put(["test", at], [...record.slice(at, at + 32_768)]);
    }
  },
};

function inDatabase<T>(ask: (rows: IDBObjectStore) => IDBRequest): Promise<T> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open("lethe");
    opening.onupgradeneeded = () => opening.result.createObjectStore("records");
    opening.onsuccess = () => {
      const transaction = opening.result.transaction("records", "readwrite");
      const request = ask(transaction.objectStore("records"));
      transaction.oncomplete = () => {
        opening.result.close();
        resolve(request.result);
      };
      transaction.onabort = () => reject(transaction.error);
    };
  });
}

declare global {
  var lethe: {
    readonly tab: typeof tab;
    readonly records: typeof records;
    readonly indexedDbStore: typeof indexedDbStore;
  };
}
globalThis.lethe = { tab, records, indexedDbStore };
