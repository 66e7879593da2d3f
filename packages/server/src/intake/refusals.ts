import { createTurns } from "../async/in-turn.ts";
import { type Database, DatabaseUnavailable } from "../storage/database.ts";
import { addRefusals } from "../storage/windows.ts";

/**
 * Counts what intake refuses, by reason, and stores the counts every second. A crash of this process or of the database
 * may lose those of the last second.
 */
export interface RefusalCounter {
  count(name: string, number: number, reason: string): void;
  flush(): Promise<void>;
}

/** Counts refusals of the windows for which `isCounted` is true; these are few. */
export function createRefusalCounter(
  database: Database,
  isCounted: (name: string, number: number) => boolean,
): RefusalCounter {
  const counts = new Map<string, { name: string; number: number; reason: string; requests: number }>();
  const inTurn = createTurns();
  function subtract(key: string, requests: number): void {
    const entry = counts.get(key);
    if (!entry || entry.requests <= requests) counts.delete(key);
    else counts.set(key, { ...entry, requests: entry.requests - requests });
  }

  async function write(): Promise<void> {
    if (counts.size === 0) return;
    const taken = [...counts];
    // Refusals that came meanwhile stay.
    const forget = (): void => {
      for (const [key, { requests }] of taken) subtract(key, requests);
    };
    try {
      await database.shards.borrow((shard) =>
        database.transaction(async (transaction) => {
          for (const [, refusal] of taken) await addRefusals(transaction, shard, refusal);
        }),
      );
    } catch (error) {
      // They may be stored or not: counting too few is better than counting twice.
      if (error instanceof DatabaseUnavailable) forget();
      throw error;
    }
    forget();
  }

  return {
    count: (name, number, reason) => {
      if (!isCounted(name, number)) return;
      const key = `${name} ${number} ${reason}`;
      const entry = counts.get(key) ?? { name, number, reason, requests: 0 };
      counts.set(key, { ...entry, requests: entry.requests + 1 });
    },
    // Two flushes at once would store the same counts twice.
    flush: () => inTurn(write),
  };
}
