import { timesOf } from "@lethe/core/message";
import type { Logger } from "pino";
import { allOf } from "../async/all-of.ts";
import { type KeyHolder, protocolOf } from "../protocol/protocol.ts";
import { eraseWindow } from "../release/erase.ts";
import { giveUpWindow } from "../release/give-up.ts";
import { type Database, DatabaseUnavailable } from "../storage/database.ts";
import type { TaskRegistry, TaskVersion } from "../storage/tasks.ts";
import {
  addPart,
  closeWindow,
  findWindow,
  isUnreleased,
  requireSame,
  unfinishedWindows,
  type WindowOutcome,
  type WindowRow,
} from "../storage/windows.ts";
import type { Patience } from "./patience.ts";
import { keepPoolFilled, type OpenWindow, openWindows, partsOf } from "./windows.ts";

/** What every round needs. */
export interface RoundParts extends KeyHolder {
  readonly tasks: TaskRegistry;
  readonly log: Logger;
  readonly patience: Patience;
  /** Unix seconds; throws `ClockInDoubt` while nothing may be done that cannot be undone. */
  readonly now: () => number;
  readonly onFinished: (outcome: WindowOutcome) => void;
}

/** What a round needs that opens, counts and closes windows. */
export interface CountingRoundParts extends RoundParts {
  readonly keysAhead: number;
  /** Draws the noise with which the count of invalid reports begins. */
  readonly invalidNoise: () => number;
  /**
   * While it is true, reports of open windows are counted later: devices wait for intake, nobody waits for the count.
   */
  readonly isIntakeBusy: () => boolean;
  /** Does what the admin asked of processes that hold no keys. */
  readonly answerRequests: () => Promise<void>;
  /** Called before a window closes, so that its release includes all refusals. */
  readonly beforeClose: () => Promise<void>;
}

type IsStopping = () => boolean;

/** However many reports come, other windows have their turn, and keys are made, after this time. */
const COUNTING_MS = 1000;

/**
 * One round: opens windows, makes keys ahead and, meanwhile, counts, closes, releases and erases. Returns whether to
 * begin the next at once: there is more to count, or keys are being used up by an intake of another process, which
 * cannot wake this one. A failure in one window does not delay the others; the first failure is thrown at the end.
 */
export async function countingRound(parts: CountingRoundParts, isStopping: IsStopping): Promise<boolean> {
  const { databases, tasks, keyFile, now } = parts;
  let areKeysTaken = false;
  const unreachable: Unreachable = new Map();
  const isMore = await forEachWindow(
    parts,
    isStopping,
    (window, task) => advance(parts, window, task, unreachable, isStopping),
    async (attempt) => {
      const open = await openWindows(databases, tasks, keyFile, now(), parts.invalidNoise);
      await attempt(parts.answerRequests());
      const deadline = performance.now() + COUNTING_MS;
      const isPaused = (): boolean => isStopping() || performance.now() > deadline;
      const filling = open.map(async (window) => {
        if (await attempt(fillPools(parts, window, isPaused, attempt))) areKeysTaken = true;
      });
      return { meanwhile: allOf(filling) };
    },
  );
  return isMore || (areKeysTaken && !isStopping());
}

/** Fills up the pools of keys that the databases of a window have. Returns whether keys are being used up. */
async function fillPools(
  parts: CountingRoundParts,
  window: OpenWindow,
  isPaused: () => boolean,
  attempt: Attempt,
): Promise<boolean> {
  const filling = partsOf(parts.databases, window).map(async (part) => {
    const keysAhead = Math.ceil(parts.keysAhead / part.place.of);
    const fill = (): Promise<number> => keepPoolFilled(parts, part, keysAhead, isPaused);
    const { database, row, place } = part;
    const filled =
      place.index === 0
        ? fill()
        : parts.patience.attempt(database, `keys for window ${row.number} of ${row.name}`, fill);
    const made = await attempt(
      filled.catch(async (error: unknown) => {
        await giveUpIfLost(parts, part.row, part.task, error);
        return 0;
      }),
    );
    return made !== undefined && made > keysAhead / 2;
  });
  return (await allOf(filling)).includes(true);
}

/** Databases that did not answer in this round, and why: the next window does not wait for them again. */
type Unreachable = Map<Database, DatabaseUnavailable>;

type Attempt = <T>(task: Promise<T>) => Promise<T | undefined>;

/**
 * Lets `advance` do what is to be done for each window that is not erased yet, after `before`, and waits for what that
 * has begun `meanwhile`. Returns whether one of them needs another round at once. What `attempt` is given may fail
 * without ending the round.
 */
export async function forEachWindow(
  parts: RoundParts,
  isStopping: IsStopping,
  advance: (window: WindowRow, task: TaskVersion) => Promise<boolean>,
  before: (attempt: Attempt) => Promise<{ readonly meanwhile: Promise<unknown> }> = async () => ({
    meanwhile: Promise.resolve(),
  }),
): Promise<boolean> {
  const { database, databases, tasks, keyFile, now } = parts;
  // Nothing is begun while the clock is in doubt.
  now();
  await tasks.refresh();
  keyFile.refresh();
  const failures: unknown[] = [];
  const attempt: Attempt = (task) =>
    task.catch((error: unknown) => {
      failures.push(error);
      return undefined;
    });
  const begun = await before(attempt);
  let isMore = false;
  const advanceAll = async (): Promise<void> => {
    for (const window of await unfinishedWindows(database)) {
      if (isStopping()) return;
      const task = tasks.byId(window.taskId);
      // The clock may have jumped since the last window.
      const advancing = async (found: TaskVersion): Promise<boolean> => {
        now();
        return advance(window, found);
      };
      if (task && (await attempt(advancing(task)))) isMore = true;
    }
    const [, ...others] = databases.all;
    const erasing = others.map((other) =>
      parts.patience.begin(other, "erasing", () => eraseElsewhere(parts, other, isStopping)),
    );
    await allOf(erasing.map(attempt));
  };
  await allOf([advanceAll(), begun.meanwhile]);
  if (isStopping()) return false;
  if (failures.length > 0) throw failures[0];
  return isMore;
}

/** Erases a window that is over; false if it is not. */
export async function eraseIfOver(parts: RoundParts, window: WindowRow, isStopping: IsStopping): Promise<boolean> {
  if (isUnreleased(window)) return false;
  const isErased = await eraseWindow(parts, window, isStopping);
  if (isErased) parts.log.info({ task: window.name, window: window.number }, "window erased");
  return true;
}

/** Erases the parts in another database of windows that are over. */
async function eraseElsewhere(parts: RoundParts, other: Database, isStopping: IsStopping): Promise<void> {
  for (const part of await unfinishedWindows(other)) {
    if (isStopping()) return;
    const decided = await findWindow(parts.database, part.name, part.number);
    requireSame(part, decided);
    if (decided && !isUnreleased(decided)) await eraseWindow(parts, part, isStopping, other);
  }
}

/** Takes a window as far as it can go now. Returns whether counting was cut off, so that there may be more to count. */
async function advance(
  parts: CountingRoundParts,
  window: WindowRow,
  task: TaskVersion,
  unreachable: Unreachable,
  isStopping: IsStopping,
): Promise<boolean> {
  const { database, log, now } = parts;
  if (await eraseIfOver(parts, window, isStopping)) return false;
  const named = { task: window.name, window: window.number };
  const isOver = now() >= timesOf(task.manifest, window.number).closes;
  if (window.state === "collecting" && isOver) {
    await parts.beforeClose();
    if (await closeWindow(database, window.id)) log.info(named, "window closed");
  }
  const mayWait = window.state === "collecting" && !isOver;
  const deadline = performance.now() + COUNTING_MS;
  const isLate = (): boolean => performance.now() > deadline;
  const isPaused = (): boolean => isStopping() || isLate() || (mayWait && parts.isIntakeBusy());
  const isClosed = isOver || window.state === "closed";
  const outcome = await countAndFinish(parts, window, task, { isClosed, isPaused, unreachable }, isStopping);
  if (!outcome) return isLate() && !isStopping();
  parts.onFinished(outcome);
  log.info({ ...named, outcome }, "window finished");
  await eraseIfOver(parts, { ...window, state: outcome }, isStopping);
  return false;
}

/**
 * Counts what every database of a window has, and finishes the window if all of them are counted. A window that is
 * closed in the first database is closed in the others. A database that does not answer does not hold up the counting
 * in others, but the window's end.
 */
async function countAndFinish(
  parts: RoundParts,
  window: WindowRow,
  task: TaskVersion,
  now: { readonly isClosed: boolean; readonly isPaused: () => boolean; readonly unreachable: Unreachable },
  isStopping: IsStopping,
): Promise<WindowOutcome | undefined> {
  const protocol = protocolOf(task);
  const count = (database: Database): Promise<void> => protocol.count(parts, database, window, now.isPaused);
  const countElsewhere = async (database: Database): Promise<void> => {
    await addPart(parts.database, database, window);
    if (now.isClosed) await closeWindow(database, window.id);
    await count(database);
  };
  const countIn = (database: Database): Promise<void> =>
    database === parts.database
      ? count(database)
      : parts.patience.attempt(database, `counting window ${window.number} of ${window.name}`, () =>
          countElsewhere(database),
        );
  try {
    const counting = parts.databases.of(window).map(async (database) => {
      const before = now.unreachable.get(database);
      if (before) throw before;
      await countIn(database).catch((error: unknown) => {
        if (error instanceof DatabaseUnavailable) now.unreachable.set(database, error);
        throw error;
      });
    });
    await allOf(counting);
    return isStopping() ? undefined : await protocol.finish(parts, window.id, Math.floor(parts.now()));
  } catch (error) {
    await giveUpIfLost(parts, window, task, error);
    return "lost";
  }
}

/** Gives up a window that can never be counted; any other error is thrown again. */
async function giveUpIfLost(
  { database, databases, log, now }: RoundParts,
  window: WindowRow,
  task: TaskVersion,
  error: unknown,
): Promise<void> {
  if (!(await protocolOf(task).isLost(database, window.id, error))) throw error;
  const { code, message: reason } = error as { code?: unknown; message?: string };
  log.error({ task: window.name, window: window.number, code, reason }, "window lost");
  await giveUpWindow(database, task, window, Math.floor(now()), databases);
}
