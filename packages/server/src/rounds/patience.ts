import { within } from "../async/within.ts";
import { type Database, DatabaseUnavailable } from "../storage/database.ts";

/** Work in databases besides the first, for which a round does not wait long while one of them hangs. */
export interface Patience {
  /**
   * The result of work in a database. Throws `DatabaseUnavailable` if the database is slower than `longestMs`, or than
   * `shortMs` while it is in doubt because of what it did last. The work goes on then, and until it ends no other of
   * the same name begins.
   */
  attempt<T>(database: Database, name: string, work: () => Promise<T>): Promise<T>;
  /** Work that may take long: a round waits for at most `shortMs`, and does not doubt the database. */
  begin(database: Database, name: string, work: () => Promise<void>): Promise<void>;
  /** Resolves when all work has ended. */
  settled(): Promise<void>;
}

const LONGEST_MS = 10_000;
const SHORT_MS = 500;

/** One for all rounds of a process. */
export function createPatience(longestMs: number = LONGEST_MS, shortMs: number = SHORT_MS): Patience {
  const underWay = new Map<Database, Map<string, Promise<unknown>>>();
  const doubts = new Map<Database, DatabaseUnavailable>();

  function workIn(database: Database): Map<string, Promise<unknown>> {
    const known = underWay.get(database) ?? new Map<string, Promise<unknown>>();
    underWay.set(database, known);
    return known;
  }

  function start<T>(database: Database, name: string, work: () => Promise<T>): Promise<T> {
    const working = work().finally(() => workIn(database).delete(name));
    workIn(database).set(name, working);
    working.catch(() => undefined);
    return working;
  }

  const late = (name: string): DatabaseUnavailable => new DatabaseUnavailable(`a database is still busy: ${name}`);

  return {
    attempt: async (database, name, work) => {
      if (workIn(database).has(name)) throw doubts.get(database) ?? late(name);
      const doubt = doubts.get(database);
      const working = start(database, name, work);
      working.then(
        () => doubts.delete(database),
        (error: unknown) => {
          if (error instanceof DatabaseUnavailable) doubts.set(database, error);
        },
      );
      const isDone = await within(
        doubt ? shortMs : longestMs,
        working.then(
          () => true,
          () => true,
        ),
      );
      if (isDone) return working;
      const found = doubt ?? late(name);
      doubts.set(database, found);
      throw found;
    },
    begin: async (database, name, work) => {
      if (workIn(database).has(name)) return;
      await within(shortMs, start(database, name, work));
    },
    settled: async () => {
      const all = [...underWay.values()].flatMap((named) => [...named.values()]);
      await Promise.allSettled(all);
    },
  };
}
