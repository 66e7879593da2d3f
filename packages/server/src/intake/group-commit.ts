import { Unavailable } from "../storage/database.ts";

/** Few enough that the next group is read from the network while this one is stored. */
const MOST_TOGETHER = { items: 256, bytes: 8_000_000 };
/** While one group is stored the next is handed over, so that the database does not wait for this thread; */
const MOST_UNDER_WAY = 2;
/** but not before it is large enough to be worth its own transaction. */
const ENOUGH = 64;
/** From this number on, work that can wait should. */
const MANY = 32;
const JUST_NOW_MS = 250;
/** An item whose turn does not come within this time is refused: its device does better to come back. */
const PATIENCE_MS = 10_000;

/** Items that are committed in groups. */
export interface GroupCommit<Item, Result> {
  /** `task` is whose turn the item waits for. How many wait at once is for `http/room.ts` to limit. */
  readonly submit: (item: Item, task: string) => Promise<Result>;
  /** Whether many items came together just now. */
  readonly isBusy: () => boolean;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly since: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Collects the items that come while a commit is under way and commits them together: under load many requests share
 * one transaction, and a single one waits for nobody. `commit` gives a result for each item, in order.
 *
 * Tasks take turns: each group begins with another task, and takes all that waits of it before it takes of the next. So
 * a task waits for at most one group of every other task, however much these have. An item that waits for more than 10 s
 * is refused as unavailable, and never committed.
 */
export function createGroupCommit<Item, Result>(
  commit: (items: readonly Item[]) => Promise<readonly Result[]>,
  bytesOf: (item: Item) => number = () => 0,
): GroupCommit<Item, Result> {
  /** By task, in the order of their turns; none is empty. */
  const queues = new Map<string, Waiting<Item, Result>[]>();
  let waiting = 0;
  let underWay = 0;
  let lastMany = Number.NEGATIVE_INFINITY;
  let isWatched = false;

  /** At least one item, whatever its size. */
  function takeGroup(): Waiting<Item, Result>[] {
    const group: Waiting<Item, Result>[] = [];
    let bytes = 0;
    const hasRoomFor = ({ item }: Waiting<Item, Result>): boolean =>
      group.length === 0 || (group.length < MOST_TOGETHER.items && bytes + bytesOf(item) <= MOST_TOGETHER.bytes);
    for (const [task, queue] of queues) {
      let taken = 0;
      for (const next of queue) {
        if (!hasRoomFor(next)) break;
        group.push(next);
        bytes += bytesOf(next.item);
        taken++;
      }
      queues.delete(task);
      // The group is full: the rest has its turn after all others.
      if (taken < queue.length) {
        queues.set(task, queue.slice(taken));
        break;
      }
    }
    waiting -= group.length;
    return group;
  }

  const mayCommit = (underWayBefore: number): boolean =>
    waiting > 0 && (underWayBefore === 0 || (underWayBefore < MOST_UNDER_WAY && waiting >= ENOUGH));

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

  /** Refuses what has waited too long, and looks again while there is something to look after. */
  function refuseLate(): void {
    const latest = performance.now() - PATIENCE_MS;
    for (const [task, queue] of queues) {
      const inTime = queue.findIndex(({ since }) => since > latest);
      const late = queue.splice(0, inTime < 0 ? queue.length : inTime);
      if (queue.length === 0) queues.delete(task);
      waiting -= late.length;
      for (const { reject } of late) reject(new Unavailable("the database does not keep up: try again later"));
    }
    isWatched = waiting > 0;
    if (isWatched) setTimeout(refuseLate, PATIENCE_MS / 10).unref();
  }

  return {
    submit: (item, task) =>
      new Promise((resolve, reject) => {
        const queue = queues.get(task) ?? [];
        queue.push({ item, since: performance.now(), resolve, reject });
        queues.set(task, queue);
        waiting++;
        if (!isWatched) setTimeout(refuseLate, PATIENCE_MS).unref();
        isWatched = true;
        if (mayCommit(underWay)) void run();
      }),
    isBusy: () => waiting >= MANY || performance.now() - lastMany < JUST_NOW_MS,
  };
}
