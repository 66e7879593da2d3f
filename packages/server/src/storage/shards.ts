import { randomInt } from "node:crypto";

/** The shards of this process. */
export interface Shards {
  /** A number that stands for this process. */
  readonly own: number;
  /** Lends a shard that nobody else has until `use` settles. */
  borrow<T>(use: (shard: number) => Promise<T>): Promise<T>;
}

/** For a database with one connection, whose transactions wait for one another anyway. */
export const ONE_SHARD: Shards = { own: 0, borrow: (use) => use(0) };

const MOST_PER_PROCESS = 2 ** 16;
const MOST_PROCESSES = 2 ** 36;

/**
 * For a database that many processes share: each draws a random range of numbers at its start, and lends the lowest that
 * is free. So no transaction waits for the shard of another. Nothing but speed depends on that: a shard is locked while
 * it is used, in case two processes draw the same range.
 */
export function createShards(): Shards {
  const own = randomInt(1, MOST_PROCESSES);
  const base = own * MOST_PER_PROCESS;
  const lent = new Set<number>();
  return {
    own,
    borrow: async (use) => {
      let shard = base;
      while (lent.has(shard)) shard++;
      lent.add(shard);
      try {
        return await use(shard);
      } finally {
        lent.delete(shard);
      }
    },
  };
}
