import { LetheError } from "@lethe/core/error";

/** More than this waiting means that the database does not keep up. */
const MOST_WAITING = { items: 20_000, bytes: 100_000_000 };
/** Few enough that the next group is read from the network while this one is stored. */
const MOST_TOGETHER = { items: 256, bytes: 8_000_000 };
/** While one group is stored the next is handed over, so that the database does not wait for this thread; */
const MOST_UNDER_WAY = 2;
/** but not before it is large enough to be worth its own transaction. */
const ENOUGH = 64;
/** From this number on, work that can wait should. */
const MANY = 32;
const JUST_NOW_MS = 250;

/** Items that are committed in groups. */
export interface GroupCommit<Item, Result> {
  readonly submit: (item: Item) => Promise<Result>;
  /** Whether many items came together just now. */
  readonly isBusy: () => boolean;
}

/**
 * Collects the items that come while a commit is under way and commits it together: under load many requests share one
 * transaction, and a single one waits for nobody. `commit` gives a result for each item, in order.
 */
export function createGroupCommit<Item, Result>(
  commit: (items: readonly Item[]) => Promise<readonly Result[]>,
  bytesOf: (item: Item) => number = () => 0,
): GroupCommit<Item, Result> {
  let waiting: { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void }[] = [];
  let underWay = 0;
  let waitingBytes = 0;
  let lastMany = Number.NEGATIVE_INFINITY;

  /** At least one, whatever its size. */
  function takeGroup(): typeof waiting {
    let items = 0;
    let bytes = 0;
    for (const { item } of waiting.slice(0, MOST_TOGETHER.items)) {
      if (items > 0 && bytes + bytesOf(item) > MOST_TOGETHER.bytes) break;
      bytes += bytesOf(item);
      items++;
    }
    const group = waiting.slice(0, items);
    waiting = waiting.slice(items);
    waitingBytes -= bytes;
    return group;
  }

  const mayCommit = (underWayBefore: number): boolean =>
    waiting.length > 0 && (underWayBefore === 0 || (underWayBefore < MOST_UNDER_WAY && waiting.length >= ENOUGH));

  async function run(): Promise<void> {
    underWay++;
    // Items that arrive in the same turn of the event loop go together.
    await new Promise((resolve) => setImmediate(resolve));
    while (mayCommit(underWay - 1)) {
      const group = takeGroup();
      if (group.length >= MANY) lastMany = performance.now();
      try {
        const results = await commit(group.map(({ item }) => item));
        for (const [i, { resolve }] of group.entries()) resolve(results[i] as Result);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    underWay--;
  }

  return {
    submit: (item) =>
      new Promise((resolve, reject) => {
        if (waiting.length >= MOST_WAITING.items || waitingBytes >= MOST_WAITING.bytes) {
          reject(new LetheError("rate-limited", "the service has more to store than it can: try again later"));
          return;
        }
        waiting.push({ item, resolve, reject });
        waitingBytes += bytesOf(item);
        if (mayCommit(underWay)) void run();
      }),
    isBusy: () => waiting.length >= MANY || performance.now() - lastMany < JUST_NOW_MS,
  };
}
