/// <reference lib="dom" />
import { encodeBase64url } from "@lethe/core/device";
import type { Store } from "../src/store/store.ts";
import { encodeVersion } from "../src/store/version.ts";

/** How a store could betray its user. */
export type Fault =
  | "writes on events"
  | "writes locally on events"
  | "keeps names"
  | "keeps the state"
  | "writes again only after events";

/** A store with one fault or none, which learns of events as a careless SDK might let it. */
export interface ToldStore extends Store {
  onEvent(name: string, times: number): void;
}

export function brokenStore(store: Store, fault: Fault | undefined): ToldStore {
  const events: string[] = [];
  let last: Uint8Array | undefined;
  let saves = 0;
  /** Of an automaton that counts, modulo 256, as a careless device would keep it, a byte for each of 32 slots. */
  let state = 0;
  return {
    ...store,
    onEvent: (name, times) => {
      events.push(`${name} ${times}`);
      state++;
      if (fault === "writes on events" && last) void store.save(last, { durable: false });
      if (fault === "writes locally on events" && last) writeLocally(last);
    },
    save: (record, how) => {
      // At first there is no ciphertext yet.
      const isOld = fault === "writes again only after events" && ++saves > 2 && events.length === 0 && !how.durable;
      last = isOld && last ? last : record.slice();
      // Where a record has zeros.
      const text = new TextEncoder().encode(events.join());
      if (fault === "keeps names") last.set(text.subarray(0, 200), last.length - 200);
      if (fault === "keeps the state") last.fill(state, last.length - 32);
      events.length = 0;
      return store.save(last, how);
    },
  };
}

/** As the store of `browser-lethe.ts` does when its page is left, so old that it is never loaded. */
function writeLocally(record: Uint8Array): void {
  localStorage.setItem("lethe:forensics", encodeBase64url(encodeVersion({ generation: 0, record })));
}
