/** What a model of a window starts with, and what may happen in it. */
export interface Setting {
  /** The database of each report, 0 or 1. */
  readonly reports: readonly number[];
  readonly intakes: number;
  readonly tallies: number;
  readonly minimumDevices: number;
  /**
   * How many commits may be visible although no standby has them: the wait was cancelled, and the process takes
   * the commit for failed. Standbys take over at any time.
   */
  readonly cancelled: number;
  /** Whether the operator may give the window up. */
  readonly mayBeLost: boolean;
  readonly mistake?: Mistake;
}

/** One process of each role, and a report in each database. */
export const SMALLEST: Setting = {
  ...{ reports: [0, 1], intakes: 1, tallies: 1, minimumDevices: 1, cancelled: 0, mayBeLost: false },
};

/** Each breaks one rule of the protocol. */
export const MISTAKES = [
  "closing does not wait for shards",
  "a part is not awaited",
  "an open part is read",
  "the state is not read again in the transaction that publishes",
  "a lost lease is not noticed",
  "a part is erased before the release",
  "a closed part is read before its standby has that",
  "the secret is destroyed before the standby has the release",
  "a part is made before the standby has the window",
] as const;
export type Mistake = (typeof MISTAKES)[number];

/** All there is, as numbers. */
export type State = readonly number[];

export const [FIRST, OTHER] = [0, 1] as const;
export const DATABASES: readonly number[] = [FIRST, OTHER];
/** States of the row of a window. */
export const [NONE, COLLECTING, CLOSED, ENDED] = [0, 1, 2, 3] as const;
/** The secret. */
export const [PRESENT, DESTROYED] = [0, 1] as const;
/** A process does nothing; a tally holds the lock of the window's row in this database, or the next one. */
export const [IDLE, CLOSING] = [0, 1] as const;

/** A database has these cells, */
const DATABASE_CELLS = ["window", "id", "received", "inShards", "shards", "erased", "published"] as const;
/** and these for each report that belongs to it. `waiting` is 1 if it is to be counted, or 2 and more if a tally has leased it. */
const REPORT_CELLS = ["stored", "waiting", "counted"] as const;
type DatabaseCell = (typeof DATABASE_CELLS)[number];
type ReportCell = (typeof REPORT_CELLS)[number];

/** Where everything is in a state. */
export interface Cells {
  readonly start: State;
  /** As many cells as all databases have. The same number comes again: what their standbys have. */
  readonly stored: number;
  readonly secret: number;
  /** One bit per report. */
  readonly acknowledged: number;
  readonly cancelled: number;
  readonly lastId: number;
  readonly intakes: readonly number[];
  readonly tallies: readonly number[];
  readonly reports: readonly number[];
  cell(database: number, name: DatabaseCell): number;
  report(report: number, name: ReportCell): number;
  /** What an intake does with a report: 2r + 1 while it holds a shard for it, 2r + 2 after the commit. */
  intake(intake: number): number;
  /** What a tally does; the next cell has a report, a window's id, or what was read of the other part. */
  tally(tally: number): number;
  reportsIn(database: number): readonly number[];
  /** All cells of a database. */
  inDatabase(database: number): readonly number[];
  holdsShard(state: State, intake: number, database: number): boolean;
}

/** The cells of a setting. */
export function cellsOf({ reports, intakes, tallies, cancelled }: Setting): Cells {
  const stored = DATABASE_CELLS.length * DATABASES.length + REPORT_CELLS.length * reports.length;
  const [secret, acknowledged, cancelledCell, lastId, firstIntake] = [0, 1, 2, 3, 4].map((i) => 2 * stored + i) as [
    ...[number, number, number, number, number],
  ];
  const numbersTo = (count: number): number[] => [...Array(count).keys()];
  const cell = (database: number, name: DatabaseCell): number =>
    database * DATABASE_CELLS.length + DATABASE_CELLS.indexOf(name);
  const report = (number: number, name: ReportCell): number =>
    DATABASE_CELLS.length * DATABASES.length + number * REPORT_CELLS.length + REPORT_CELLS.indexOf(name);
  const intake = (number: number): number => firstIntake + number;
  const reportsIn = DATABASES.map((database) => numbersTo(reports.length).filter((each) => reports[each] === database));
  const inDatabase = DATABASES.map((database) => [
    ...DATABASE_CELLS.map((name) => cell(database, name)),
    ...(reportsIn[database] as number[]).flatMap((each) => REPORT_CELLS.map((name) => report(each, name))),
  ]);
  const start = new Array<number>(firstIntake + intakes + 2 * tallies).fill(0);
  start[cancelledCell] = cancelled;
  return {
    ...{ start, stored, secret, acknowledged, cancelled: cancelledCell, lastId, cell, report, intake },
    intakes: numbersTo(intakes),
    tallies: numbersTo(tallies),
    reports: numbersTo(reports.length),
    tally: (number) => firstIntake + intakes + 2 * number,
    reportsIn: (database) => reportsIn[database] as number[],
    inDatabase: (database) => inDatabase[database] as number[],
    holdsShard: (state, number, database) => {
      const doing = state[intake(number)] as number;
      return doing % 2 === 1 && reports[(doing - 1) / 2] === database;
    },
  };
}
