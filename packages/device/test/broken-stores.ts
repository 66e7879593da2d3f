import type { Store } from "../src/store/store.ts";

/** How a store could betray its user. */
export type Fault = "writes on events" | "keeps names" | "writes anew only after events";

/** A store with one fault or none, which is told of the events as a careless SDK might. */
export interface ToldStore extends Store {
  onEvent(name: string, times: number): void;
}

export function brokenStore(store: Store, fault: Fault | undefined): ToldStore {
  const events: string[] = [];
  let last: Uint8Array | undefined;
  let saves = 0;
  return {
    ...store,
    onEvent: (name, times) => {
      events.push(`${name} ${times}`);
      if (fault === "writes on events" && last) void store.save(last, { durable: false });
    },
    save: (record, how) => {
      // At first there is no ciphertext yet.
      const isOld = fault === "writes anew only after events" && ++saves > 2 && events.length === 0 && !how.durable;
      last = isOld && last ? last : record.slice();
      // Where a record has zeros.
      const text = new TextEncoder().encode(events.join());
      if (fault === "keeps names") last.set(text.subarray(0, 200), last.length - 200);
      events.length = 0;
      return store.save(last, how);
    },
  };
}
