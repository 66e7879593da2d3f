/** How many seconds the database's thread may take: for a statement, and for one that reads whole tables. */
export interface Patience {
  readonly statement: number;
  readonly long: number;
}

/** The limits while the process is ending. */
const HURRIED: Patience = { statement: 5, long: 20 };
const TICK_MS = 1000;

/** A watch over a thread. */
export interface ThreadWatch {
  /** From now on a thread that does not answer is given up sooner. */
  hurry(): void;
  stop(): void;
}

/**
 * Calls `onStuck` once the thread has worked on the same statement for longer than it may. It counts ticks of this
 * thread instead of reading a clock: a process that was paused, or a machine that slept, has used up none of the time.
 */
export function watchThread<Asked extends { readonly isLong: boolean }>(
  patience: Patience,
  current: () => Asked | undefined,
  onStuck: (asked: Asked, seconds: number) => void,
): ThreadWatch {
  let limits = patience;
  let last: Asked | undefined;
  let ticks = 0;
  const timer = setInterval(() => {
    const asked = current();
    ticks = asked === last ? ticks + 1 : 0;
    last = asked;
    if (!asked || ticks < (asked.isLong ? limits.long : limits.statement)) return;
    clearInterval(timer);
    onStuck(asked, ticks);
  }, TICK_MS).unref();
  return {
    hurry: () => {
      limits = {
        statement: Math.min(limits.statement, HURRIED.statement),
        long: Math.min(limits.long, HURRIED.long),
      };
    },
    stop: () => clearInterval(timer),
  };
}
