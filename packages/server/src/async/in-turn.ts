/**
 * Small tools for promises: one after another (this file), all of them (`all-of.ts`), in order whatever fails
 * (`in-order.ts`), within a time (`within.ts`). This folder imports nothing.
 */

/** Runs tasks one after another, whatever becomes of those before. */
export function createTurns(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const turn = last.then(task, task);
    last = turn.catch(() => undefined);
    return turn;
  };
}
