import { LetheError } from "@lethe/core/device";

const RECORDS = "records";

/**
 * The database `lethe` of the page's origin. It is opened when it is first needed, and again after the browser closed
 * it.
 */
export interface Database {
  /**
   * Runs `ask` in one transaction; at once, if the database is open. Calls that wait for that keep their order.
   * Resolves with what `ask` returned when the transaction is complete.
   */
  perform<T>(
    mode: IDBTransactionMode,
    ask: (records: IDBObjectStore) => T,
    durability?: IDBTransactionDurability,
  ): Promise<T>;
  close(): Promise<void>;
}

/** Rejects with the code `bad-store`. */
export function fail(cause: unknown): never {
  throw new LetheError("bad-store", `IndexedDB cannot be used: ${cause}`, { cause });
}

/** Opens nothing yet. Whatever fails rejects with the code `bad-store`. */
export function createDatabase(): Database {
  let opening: Promise<IDBDatabase> | undefined;
  let database: IDBDatabase | undefined;

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

  return {
    perform: (mode, ask, durability = "relaxed") => {
      const start = (from: IDBDatabase) =>
        new Promise<ReturnType<typeof ask>>((resolve, reject) => {
          const transaction = from.transaction(RECORDS, mode, { durability });
          const asked = ask(transaction.objectStore(RECORDS));
          transaction.oncomplete = () => resolve(asked);
          transaction.onabort = () => reject(transaction.error);
          // Without it, browsers first ask the page whether more follows. A page that closes does not answer, and
          // nothing
          // is written.
          transaction.commit();
        });
      return (database ? start(database) : open().then(start)).catch(fail);
    },
    close: async () => {
      await opening?.then(forget, forget);
    },
  };
}
