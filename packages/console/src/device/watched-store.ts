import type { Store } from "@lethe/device";

/** What a store has, and how often it was written. */
export interface Stored {
  readonly bytes: Uint8Array;
  readonly writes: number;
}

/** A store that somebody watches as an intruder would: who sees every version that it got. */
export interface WatchedStore {
  readonly store: Store;
  /** The last version that the store has for sure. */
  latest(): Stored | undefined;
  /** Resolves when nothing is being written. */
  settled(): Promise<void>;
}

/** Watches a store, and changes nothing about it. */
export function watched(store: Store): WatchedStore {
  let latest: Stored | undefined;
  let writes = 0;
  let saving: Promise<void> = Promise.resolve();
  return {
    store: {
      ...store,
      save: (record, how) => {
        const saved = store.save(record, how).then(() => {
          latest = { bytes: record.slice(), writes: ++writes };
        });
        // The SDK gets failures, and reports them.
        saving = saved.catch(() => undefined);
        return saved;
      },
      wipe: async () => {
        await store.wipe();
        latest = undefined;
      },
    },
    latest: () => latest,
    settled: () => saving,
  };
}
