import type { Store } from "./store.ts";

/** Keeps the record as long as the program runs: a session that ends before its window is lost. */
export function memoryStore(): Store {
  let record: Uint8Array | undefined;
  let spent: Uint8Array | undefined;
  /** How each that writes is ended. */
  const ends = new Set<(() => unknown) | undefined>();
  return {
    lock: async (signal, onWithdrawn) => {
      if (signal.aborted) return undefined;
      ends.add(onWithdrawn);
      return async () => {
        ends.delete(onWithdrawn);
      };
    },
    load: async () => record?.slice(),
    save: async (bytes) => {
      record = bytes.slice();
    },
    wipe: async () => {
      await Promise.all([...ends].map((end) => end?.()));
      record = undefined;
    },
    budget: async (change) => {
      spent = change(spent) ?? spent;
    },
    close: async () => {},
  };
}
