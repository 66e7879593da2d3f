/// <reference lib="dom" />
import { indexedDbStore } from "../src/store/indexed-db.ts";

/** A tab that counts how often it met each event, all of them named by numbers, in a record of one byte each. It saves only when it closes. */
const tab = {
  store: indexedDbStore("test"),
  counts: undefined as Uint8Array | undefined,
  isWriter: false,

  async write(events: number): Promise<void> {
    await tab.store.lock(new AbortController().signal);
    const counts = (await tab.store.load()) ?? new Uint8Array(events);
    tab.counts = counts;
    tab.store.peers?.receive(count);
    tab.isWriter = true;
    addEventListener("pagehide", () => void tab.store.save(counts, { durable: false }));
  },

  /** One event after the other, with the numbers from `first` on. */
  async emit(first: number, events: number): Promise<void> {
    for (let event = first; event < first + events; event++) {
      if (tab.isWriter) count(`${event}`);
      else tab.store.peers?.forward(`${event}`, 1);
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

declare global {
  var lethe: { readonly tab: typeof tab; readonly indexedDbStore: typeof indexedDbStore };
}
globalThis.lethe = { tab, indexedDbStore };
