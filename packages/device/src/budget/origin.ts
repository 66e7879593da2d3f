import { LetheError } from "@lethe/core/device";
import { createDatabase } from "../store/database.ts";
import type { Store } from "../store/store.ts";

/** No key of a store's records is a text. */
const KEY = "budget";

/**
 * The budget of a page's origin, for stores that keep none themselves: one value in the database `lethe`, under a Web
 * Lock. A single `put` is done whole or not at all, and with `strict` it is on disk when its transaction is complete.
 */
export const originBudget: NonNullable<Store["budget"]> = async (change, signal) => {
  if (typeof indexedDB === "undefined") {
    throw new LetheError("bad-store", "this store keeps no budget: use fileStore, or add `budget` to it");
  }
  const { perform, close } = createDatabase();
  try {
    await navigator.locks.request(`lethe ${KEY}`, { signal }, async () => {
      const found = await perform("readonly", (records) => records.get(KEY) as IDBRequest<Uint8Array | undefined>);
      const next = change(found.result);
      if (next) await perform("readwrite", (records) => void records.put(next, KEY), "strict");
    });
  } finally {
    await close();
  }
};
