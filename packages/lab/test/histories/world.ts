import { AsyncLocalStorage } from "node:async_hooks";
import { type Draws, drawsOf } from "./draws.ts";

/**
 * Time, and the processes that live in it. Everything that happens is an event: a timer, an answer of the database, a
 * request that arrives. Events run one after another in the order of their times, and the clock stands still while one
 * runs. An event ends when every promise that it set off has settled or waits for another event.
 */
export interface World {
  /** Unix time in milliseconds. */
  now(): number;
  /** Runs `act` later, as this process, or as nobody; returns what cancels it. */
  later(delay: number, process: SimulatedProcess | undefined, act: () => unknown): () => void;
  /** The same; the clock waits until the promise of `act` has settled, however long the machine takes. */
  laterAndWait(delay: number, act: () => Promise<unknown>): void;
  /** Lets time pass until a condition holds, or until this time; returns whether it holds. */
  runUntil(end: number, isOver?: () => boolean): Promise<boolean>;
  spawn(name: string): SimulatedProcess;
  kill(process: SimulatedProcess): void;
  /** A call of a port by a process. It may be its last: then this never resolves, or throws `Killed` if `isSync`. */
  port(process: SimulatedProcess): Promise<void> | undefined;
  portSync(process: SimulatedProcess): void;
  /** What a process draws, apart from what it would have drawn otherwise. */
  as<T>(process: SimulatedProcess, purpose: string, act: () => T): T;
  readonly draws: (...words: readonly (string | number)[]) => Draws;
}

/** A program on some machine. When it is killed, nothing answers it any more. */
export interface SimulatedProcess {
  readonly name: string;
  /** How many of this name there were before. */
  readonly life: number;
  isDead: boolean;
  /** Its timers and all answers wait until then. */
  stalledUntil: number;
  /** What it draws until the next event. */
  draws: Draws;
  events: number;
  readonly onDeath: (() => void)[];
}

/** What stops a process that was killed in the middle of something synchronous. */
export class Killed extends Error {}

interface WorldEvent {
  readonly at: number;
  readonly place: number;
  readonly process: SimulatedProcess | undefined;
  readonly act: () => unknown;
  readonly isWaitedFor: boolean;
  isCancelled: boolean;
}

const current = new AsyncLocalStorage<{ readonly world: World; readonly process: SimulatedProcess }>();
const realImmediate = globalThis.setImmediate;
/** Work outside of this thread that an event has set off, such as WebCrypto's. */
let outside = 0;

/** The simulated process that this code belongs to; undefined outside of simulations. */
export function running(): { readonly world: World; readonly process: SimulatedProcess } | undefined {
  return current.getStore();
}

/** The event that runs is not over before this has settled. */
export async function waitedFor<T>(work: Promise<T>): Promise<T> {
  outside++;
  try {
    return await work;
  } finally {
    outside--;
  }
}

async function settle(): Promise<void> {
  do await new Promise((resolve) => realImmediate(resolve));
  while (outside > 0);
}

/**
 * A world at this time. `onPort` hears of every call of a port, and says whether the process dies there. Everything is
 * drawn from the seed.
 */
export function createWorld(
  seed: string,
  start: number,
  onPort: (process: SimulatedProcess) => "dies" | "lives",
): World {
  const queue = createQueue();
  let now = start;
  let places = 0;
  const lives = new Map<string, number>();

  const add = (delay: number, rest: Pick<WorldEvent, "process" | "act" | "isWaitedFor">): WorldEvent => {
    const event = { at: now + Math.max(0, delay), place: places++, isCancelled: false, ...rest };
    queue.push(event);
    return event;
  };

  async function run(event: WorldEvent): Promise<void> {
    const { process, act } = event;
    if (process) {
      process.draws = drawsOf(seed, process.name, process.life, process.events++);
      current.run({ world, process }, act);
    } else if (event.isWaitedFor) await current.exit(act);
    else current.exit(act);
    await settle();
  }

  const dies = (process: SimulatedProcess): boolean => {
    if (!process.isDead && onPort(process) === "dies") world.kill(process);
    return process.isDead;
  };

  const world: World = {
    now: () => now,
    later: (delay, process, act) => {
      const event = add(delay, { process, act, isWaitedFor: false });
      return () => {
        event.isCancelled = true;
      };
    },
    laterAndWait: (delay, act) => void add(delay, { process: undefined, act, isWaitedFor: true }),
    runUntil: async (end, isOver = () => false) => {
      while (!isOver()) {
        const event = queue.peek();
        if (!event || event.at > end) {
          now = Math.max(now, end);
          return isOver();
        }
        queue.pop();
        if (event.isCancelled || event.process?.isDead) continue;
        now = Math.max(now, event.at);
        const { stalledUntil = 0 } = event.process ?? {};
        if (stalledUntil > now) queue.push({ ...event, at: stalledUntil });
        else await run(event);
      }
      return true;
    },
    spawn: (name) => {
      const life = lives.get(name) ?? 0;
      lives.set(name, life + 1);
      const draws = drawsOf(seed, name, life, "start");
      return { name, life, isDead: false, stalledUntil: 0, draws, events: 0, onDeath: [] };
    },
    kill: (process) => {
      if (process.isDead) return;
      process.isDead = true;
      for (const end of process.onDeath.splice(0)) current.exit(end);
    },
    port: (process) => (dies(process) ? new Promise<never>(() => undefined) : undefined),
    portSync: (process) => {
      if (dies(process)) throw new Killed(`${process.name} was killed`);
    },
    as: (process, purpose, act) => {
      const before = process.draws;
      process.draws = drawsOf(seed, process.name, process.life, purpose, process.events);
      try {
        return current.run({ world, process }, act);
      } finally {
        process.draws = before;
      }
    },
    draws: (...words) => drawsOf(seed, ...words),
  };
  return world;
}

/** Events in the order of their times, and of their making where these are equal: a binary heap. */
function createQueue(): {
  push(event: WorldEvent): void;
  peek(): WorldEvent | undefined;
  pop(): void;
} {
  const heap: WorldEvent[] = [];
  const isBefore = (a: WorldEvent, b: WorldEvent): boolean => a.at < b.at || (a.at === b.at && a.place < b.place);
  const swap = (i: number, j: number): void => {
    [heap[i], heap[j]] = [heap[j] as WorldEvent, heap[i] as WorldEvent];
  };
  const ordered = (i: number, j: number): boolean => isBefore(heap[i] as WorldEvent, heap[j] as WorldEvent);
  return {
    push: (event) => {
      heap.push(event);
      for (let i = heap.length - 1; i > 0; ) {
        const parent = (i - 1) >> 1;
        if (ordered(parent, i)) break;
        swap(i, parent);
        i = parent;
      }
    },
    peek: () => heap[0],
    pop: () => {
      const last = heap.pop();
      if (!last || heap.length === 0) return;
      heap[0] = last;
      for (let i = 0; ; ) {
        const [left, right] = [2 * i + 1, 2 * i + 2];
        let least = i;
        if (left < heap.length && ordered(left, least)) least = left;
        if (right < heap.length && ordered(right, least)) least = right;
        if (least === i) break;
        swap(i, least);
        i = least;
      }
    },
  };
}
