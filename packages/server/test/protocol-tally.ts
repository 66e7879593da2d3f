import {
  type Cells,
  CLOSED,
  CLOSING,
  COLLECTING,
  DATABASES,
  DESTROYED,
  ENDED,
  FIRST,
  IDLE,
  NONE,
  OTHER,
  PRESENT,
  type State,
} from "./protocol-cells.ts";
import { type Change, increase, type Moment, persist, put, type Step } from "./protocol-moment.ts";

/** What is published. For released reports a power of 3 is added as often as each is counted. */
export const [NOTHING, LOST, WITHHELD, RELEASED, TWICE] = [0, 1, 2, 100, 1000] as const;

/** What a tally has seen or done last, besides being idle or holding a lock. */
const [SAW_CLOSED, SAW_WINDOW, MAY_ADD, LEASED, SAW_OTHER_CLOSED, MAY_READ, READ_OTHER, SAW_END, ERASING] = [
  3, 4, 5, 6, 7, 8, 9, 10, 11,
];

/** A tally, at a moment. */
interface Tally extends Moment {
  readonly tally: number;
  readonly name: string;
  readonly doing: number;
  readonly data: number;
  /** What the tally does next. */
  goOn(to: number, data?: number): Change;
}

/** Everything that a tally may do next. */
export function* tallySteps(moment: Moment, number: number): Iterable<Step> {
  const { cells, state } = moment;
  const own = cells.tally(number);
  const tally: Tally = {
    ...moment,
    tally: number,
    name: `tally ${number}`,
    doing: state[own] as number,
    data: state[own + 1] as number,
    goOn:
      (to, data = 0) =>
      (next) => {
        next[own] = to;
        next[own + 1] = data;
      },
  };
  if (tally.doing !== IDLE) yield [`${tally.name} dies, or gives up`, tally.changed(tally.goOn(IDLE))];
  yield* makingSteps(tally);
  yield* closingSteps(tally);
  yield* countingSteps(tally);
  yield* publishingSteps(tally);
  yield* erasingSteps(tally);
}

/** The window, and its part in the other database. */
function* makingSteps({ cells, setting, state, window, other, changed, commit, ...tally }: Tally): Iterable<Step> {
  const { name, doing, data, goOn } = tally;
  const id = cells.cell(FIRST, "id");
  if (doing === IDLE && window === NONE && (state[cells.lastId] as number) <= setting.cancelled) {
    const make: Change = (next) => {
      increase(next, cells.lastId);
      next[cells.cell(FIRST, "window")] = COLLECTING;
      next[id] = next[cells.lastId] as number;
    };
    yield* commit(`${name} makes the window`, FIRST, goOn(IDLE), make);
  }
  if (doing === IDLE && window !== NONE && other === NONE) {
    yield [`${name} sees the window`, changed(goOn(SAW_WINDOW, state[id]))];
  }
  if (doing === SAW_WINDOW) {
    const wait: Change = (next) => {
      if (setting.mistake !== "a part is made before the standby has the window") persist(cells, next, FIRST);
      goOn(next[id] === data ? MAY_ADD : IDLE, data)(next);
    };
    yield [`${name} waits for the standby, and looks again`, changed(wait)];
  }
  if (doing === MAY_ADD && other === NONE) {
    const add: Change = (next) => {
      next[cells.cell(OTHER, "window")] = COLLECTING;
      next[cells.cell(OTHER, "id")] = data;
    };
    yield* commit(`${name} makes the other part`, OTHER, goOn(IDLE), add);
  }
}

function* closingSteps({ cells, setting, state, window, other, changed, commit, ...tally }: Tally): Iterable<Step> {
  const { name, doing, goOn, isLocked, isInUse } = tally;
  const mayLock = (database: number): boolean => !isLocked(database) && !isInUse(database, true);
  if (doing === IDLE && window === COLLECTING && mayLock(FIRST)) {
    yield [`${name} locks the window`, changed(goOn(CLOSING + FIRST))];
  }
  if (doing === IDLE && (window === CLOSED || window === ENDED) && other === COLLECTING) {
    yield [`${name} sees it closed`, changed(goOn(SAW_CLOSED))];
  }
  if (doing === SAW_CLOSED && other === COLLECTING && mayLock(OTHER)) {
    yield [`${name} locks the other part`, changed(goOn(CLOSING + OTHER))];
  }
  for (const database of DATABASES) {
    const isFree = !isInUse(database) || setting.mistake === "closing does not wait for shards";
    if (doing !== CLOSING + database || !isFree) continue;
    yield* commit(`${name} closes part ${database}`, database, goOn(IDLE), close(cells, database));
  }
  const isOpen = window === COLLECTING || window === CLOSED;
  if (setting.mayBeLost && doing === IDLE && isOpen && !isLocked(FIRST) && !isInUse(FIRST)) {
    const giveUp: Change = (next) => {
      if (state[cells.cell(FIRST, "window")] === COLLECTING) close(cells, FIRST)(next);
      next[cells.cell(FIRST, "window")] = ENDED;
      next[cells.cell(FIRST, "published")] = LOST;
    };
    yield* commit(`${name} gives the window up`, FIRST, goOn(IDLE), giveUp);
  }
}

function close(cells: Cells, database: number): Change {
  return (next) => {
    next[cells.cell(database, "window")] = CLOSED;
    next[cells.cell(database, "received")] = next[cells.cell(database, "inShards")] as number;
    next[cells.cell(database, "shards")] = 0;
  };
}

function* countingSteps({ cells, setting, state, commit, ...tally }: Tally): Iterable<Step> {
  const { name, doing, data, goOn } = tally;
  const lease = 2 + tally.tally;
  for (const [report, home] of doing === IDLE && state[cells.secret] === PRESENT ? setting.reports.entries() : []) {
    // A lease may have ended, at any time.
    const waiting = cells.report(report, "waiting");
    if (state[waiting] === 0) continue;
    const take: Change = put(waiting, lease);
    yield* commit(`${name} leases report ${report}`, home, goOn(IDLE), take, goOn(LEASED, report));
  }
  if (doing !== LEASED) return;
  const isOurs = state[cells.report(data, "waiting")] === lease;
  const isMistaken = setting.mistake === "a lost lease is not noticed" && state[cells.report(data, "stored")] === 1;
  if (!isOurs && !isMistaken) return;
  const count: Change = (next) => {
    next[cells.report(data, "waiting")] = 0;
    increase(next, cells.report(data, "counted"));
  };
  yield* commit(`${name} counts report ${data}`, setting.reports[data] as number, goOn(IDLE), count);
}

/** What is read of a part: how many it has received, and which are counted. */
function readPart(
  cells: Cells,
  state: State,
  database: number,
): { received: number; counted: number; isFinal: boolean } {
  const sum = (of: (report: number) => number): number =>
    cells.reportsIn(database).reduce((total, report) => total + of(report), 0);
  const countOf = (report: number): number => state[cells.report(report, "counted")] as number;
  const isOpen = state[cells.cell(database, "window")] === COLLECTING;
  const received = state[cells.cell(database, isOpen ? "inShards" : "received")] as number;
  return { received, counted: sum((report) => countOf(report) * 3 ** report), isFinal: sum(countOf) === received };
}

const [MOST_RECEIVED] = [10];

function* publishingSteps({ cells, setting, state, window, other, changed, commit, ...tally }: Tally): Iterable<Step> {
  const { name, doing, data, goOn, isLocked } = tally;
  const { mistake } = setting;
  const isSame = state[cells.cell(FIRST, "id")] === state[cells.cell(OTHER, "id")];
  const mayRead = (other === CLOSED || mistake === "an open part is read") && isSame;
  if (doing === IDLE && window === CLOSED && mayRead) {
    yield [`${name} sees both parts closed`, changed(goOn(SAW_OTHER_CLOSED))];
  }
  if (doing === SAW_OTHER_CLOSED) {
    const wait: Change = (next) => {
      if (mistake !== "a closed part is read before its standby has that") persist(cells, next, OTHER);
      goOn(MAY_READ)(next);
    };
    yield [`${name} waits for the other part's standby`, changed(wait)];
  }
  if (doing === MAY_READ && mayRead) {
    const { received, counted, isFinal } = readPart(cells, state, OTHER);
    const read = 2 * (received + MOST_RECEIVED * counted) + (isFinal || mistake === "a part is not awaited" ? 1 : 0);
    yield [`${name} reads the other part`, changed(goOn(READ_OTHER, read))];
  }
  const isSeenAgain = window === CLOSED || mistake === "the state is not read again in the transaction that publishes";
  if (doing !== READ_OTHER || !isSeenAgain || isLocked(FIRST)) return;
  const own = readPart(cells, state, FIRST);
  const [isOtherFinal, read] = [data % 2 === 1, Math.floor(data / 2)];
  const received = own.received + (read % MOST_RECEIVED);
  const isEnough = received >= setting.minimumDevices;
  if (isEnough && !(own.isFinal && isOtherFinal && state[cells.secret] === PRESENT)) return;
  const publish: Change = (next) => {
    const published = cells.cell(FIRST, "published");
    const result = isEnough ? RELEASED + own.counted + Math.floor(read / MOST_RECEIVED) : WITHHELD + received;
    next[published] = next[published] === NOTHING ? result : TWICE;
    next[cells.cell(FIRST, "window")] = ENDED;
  };
  yield* commit(`${name} publishes`, FIRST, goOn(IDLE), publish);
}

function* erasingSteps({ cells, setting, state, window, other, changed, commit, ...tally }: Tally): Iterable<Step> {
  const { name, doing, goOn, isLocked, isInUse } = tally;
  if (doing === IDLE && window === ENDED) yield [`${name} sees the end`, changed(goOn(SAW_END))];
  const isEarly = setting.mistake === "a part is erased before the release" && window === CLOSED && other === CLOSED;
  if (doing === IDLE && isEarly) yield [`${name} goes on to erase`, changed(goOn(ERASING))];
  if (doing === SAW_END) {
    const destroy: Change = (next) => {
      const isHasty = setting.mistake === "the secret is destroyed before the standby has the release";
      if (!isHasty) persist(cells, next, FIRST);
      if (next[cells.cell(FIRST, "window")] !== ENDED) return goOn(IDLE)(next);
      next[cells.secret] = DESTROYED;
      goOn(ERASING)(next);
    };
    yield [`${name} waits for the standby, looks again, and destroys the secret`, changed(destroy)];
  }
  for (const database of doing === ERASING ? DATABASES : []) {
    const part = state[cells.cell(database, "window")];
    if (state[cells.cell(database, "erased")] === 1 || part === NONE || (isEarly && database === FIRST)) continue;
    if (isLocked(database) || isInUse(database)) continue;
    const erase: Change = (next) => {
      if (part === COLLECTING) close(cells, database)(next);
      for (const at of cells.reportsIn(database).flatMap((report) => reportCellsOf(cells, report))) next[at] = 0;
      next[cells.cell(database, "erased")] = 1;
    };
    yield* commit(`${name} erases part ${database}`, database, goOn(IDLE), erase, goOn(ERASING));
  }
}

const reportCellsOf = (cells: Cells, report: number): number[] =>
  (["stored", "waiting", "counted"] as const).map((name) => cells.report(report, name));
