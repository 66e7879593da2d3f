import type { Store } from "./store.ts";

/** Keeps the record as long as the program runs: a session that ends before its window is lost. */
export function memoryStore(): Store {
  let record: Uint8Array | undefined;
  return {
    lock: async (signal) => (signal.aborted ? undefined : async () => {}),
    load: async () => record?.slice(),
    save: async (bytes) => {
      record = bytes.slice();
    },
    wipe: async () => {
      record = undefined;
    },
    close: async () => {},
  };
}
