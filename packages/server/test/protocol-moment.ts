import { type Cells, CLOSING, FIRST, OTHER, type Setting, type State } from "./protocol-cells.ts";

export type Step = readonly [name: string, state: State];
export type Change = (state: number[]) => void;

/** A state, with what steps need to know and to do. */
export interface Moment {
  readonly cells: Cells;
  readonly setting: Setting;
  readonly state: State;
  readonly window: number;
  readonly other: number;
  /** A state that differs. */
  changed(change: Change): State;
  /**
   * A transaction that changes a database; afterwards the process does what `after` says. Or its wait for the standby is
   * cancelled, and the process gives up.
   */
  commit(name: string, database: number, giveUp: Change, change: Change, after?: Change): Iterable<Step>;
  isLocked(database: number): boolean;
  /** An intake is in the middle of a transaction; `isMaking`: one that makes its shard, and so has a share in the window's lock. */
  isInUse(database: number, isMaking?: boolean): boolean;
}

/** What a step needs in a state. */
export function momentOf(cells: Cells, setting: Setting, state: State): Moment {
  const changed = (change: Change): State => {
    const next = [...state];
    change(next);
    return next;
  };
  return {
    ...{ cells, setting, state, changed },
    window: state[cells.cell(FIRST, "window")] as number,
    other: state[cells.cell(OTHER, "window")] as number,
    commit: function* (name, database, giveUp, change, after = giveUp) {
      const done = changed((next) => {
        change(next);
        persist(cells, next, database);
        after(next);
      });
      yield [name, done];
      if ((state[cells.cancelled] as number) === 0) return;
      const cancelled = changed((next) => {
        change(next);
        giveUp(next);
        next[cells.cancelled] = (next[cells.cancelled] as number) - 1;
      });
      yield [`${name}, but the wait for the standby is cancelled`, cancelled];
    },
    isLocked: (database) => cells.tallies.some((tally) => state[cells.tally(tally)] === CLOSING + database),
    isInUse: (database, isMaking = false) =>
      cells.intakes.some(
        (intake) =>
          cells.holdsShard(state, intake, database) && !(isMaking && hasShard(cells, state, intake, database)),
      ),
  };
}

/** Whether an intake has made its shard. */
export function hasShard(cells: Cells, state: State, intake: number, database: number): boolean {
  return (((state[cells.cell(database, "shards")] as number) >> intake) & 1) === 1;
}

/** A standby has everything that was committed. */
export function persist(cells: Cells, state: number[], database: number): void {
  for (const at of cells.inDatabase(database)) state[cells.stored + at] = state[at] as number;
}

/** Sets a cell. */
export function put(at: number, value: number): Change {
  return (next) => {
    next[at] = value;
  };
}

/** Adds 1 to a cell. */
export function increase(state: number[], at: number): void {
  state[at] = (state[at] as number) + 1;
}
