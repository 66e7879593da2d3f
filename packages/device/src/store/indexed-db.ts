import { join, LetheError } from "@lethe/core/device";
import { peersOf, type TabPeers } from "./peers.ts";
import type { Store } from "./store.ts";

const RECORDS = "records";
/** Chromium makes a file of a value beyond 64 KiB, asks the page for its bytes, and gets none from one that has closed. */
const PART_BYTES = 32_768;

function fail(cause: unknown): never {
  throw new LetheError("bad-store", `IndexedDB cannot be used: ${cause}`, { cause });
}

/**
 * Keeps the record in the database `lethe` of the page's origin, under `name`, in parts that one
 * transaction replaces. One tab writes at a time, by a Web Lock;
 * the others hand it their events over a broadcast channel. Browsers keep older versions on disk until they
 * compact their files.
 *
 * `close` may follow a `save` at once: what is under way is completed.
 */
export function indexedDbStore(name: string): Store & { readonly peers: TabPeers } {
  const scope = `lethe:${name}`;
  /** Every tab that writes or waits holds this lock in shared mode: a tab that gets it alone knows that the others have ended. */
  const consent = `${scope} consent`;
  /** A message means that consent is withdrawn. Never closed: an application may withdraw after it closed everything else. */
  const withdrawals = new BroadcastChannel(consent);
  const peers = peersOf(scope);
  let opening: Promise<IDBDatabase> | undefined;
  let database: IDBDatabase | undefined;

  /** All keys that begin with the name: a part's is the name with where it begins. */
  const parts = () => IDBKeyRange.bound([name], [name, []]);

  function forget(): void {
    database?.close();
    opening = database = undefined;
  }

  function open(): Promise<IDBDatabase> {
    opening ??= new Promise((resolve, reject) => {
      // At whatever version there is: if a later Lethe upgrades it meanwhile, this one goes on as long as it can.
      const request = indexedDB.open("lethe");
      request.onupgradeneeded = () => request.result.createObjectStore(RECORDS);
      request.onerror = () => reject(request.error);
      request.onsuccess = () => {
        database = request.result;
        // Somebody upgrades or deletes the database and waits for us; or the browser has closed it.
        database.onversionchange = database.onclose = forget;
        resolve(database);
      };
    });
    opening.catch(forget);
    return opening;
  }

  /** In a transaction of its own; at once, if the database is open. Calls that wait for that keep their order. */
  function perform<T>(
    mode: IDBTransactionMode,
    durability: IDBTransactionDurability,
    ask: (records: IDBObjectStore) => IDBRequest,
  ): Promise<T> {
    const start = (from: IDBDatabase) =>
      new Promise<T>((resolve, reject) => {
        const transaction = from.transaction(RECORDS, mode, { durability });
        const request = ask(transaction.objectStore(RECORDS));
        transaction.oncomplete = () => resolve(request.result);
        transaction.onabort = () => reject(transaction.error);
        // Without it browsers ask the page first whether more follows: one that closes does not answer, and nothing is written.
        transaction.commit();
      });
    return (database ? start(database) : open().then(start)).catch(fail);
  }

  return {
    peers,
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
                  peers.stop();
                  release();
                  return held;
                });
              }),
          ),
        );
        held.catch((error) => (signal.aborted ? resolve(undefined) : reject(error)));
      }).catch(fail),
    load: async () => {
      const found = await perform<Uint8Array[]>("readonly", "relaxed", (records) => records.getAll(parts()));
      return found.length ? join(found) : undefined;
    },
    save: (record, { durable }) =>
      perform("readwrite", durable ? "strict" : "relaxed", (records) => {
        const removal = records.delete(parts());
        for (let at = 0; at < record.length; at += PART_BYTES) {
          // A copy: of a view, the whole buffer would be stored.
          records.put(record.slice(at, at + PART_BYTES), [name, at]);
        }
        return removal;
      }),
    wipe: () =>
      new Promise<void>((resolve) => {
        // The lock first: a tab that asks to share it from now on waits, and begins after this.
        resolve(
          navigator.locks.request(consent, () =>
            perform<void>("readwrite", "strict", (records) => records.delete(parts())),
          ),
        );
        withdrawals.postMessage(0);
      }).catch(fail),
    close: async () => {
      withdrawals.onmessage = null;
      peers.close();
      await opening?.then(forget, forget);
    },
  };
}
