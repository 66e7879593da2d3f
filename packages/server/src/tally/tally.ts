import { LetheError } from "@lethe/core/error";
import { timesOf } from "@lethe/core/message";
import type { Logger } from "pino";
import { allOf } from "../all-of.ts";
import { ClockInDoubt } from "../clock/doubt.ts";
import { createNews } from "../news.ts";
import type { Helper } from "../peer/client.ts";
import { eraseWindow, giveUpWindow, releaseWindow } from "../release/finish.ts";
import type { TaskRegistry, TaskVersion } from "../storage/tasks.ts";
import { closeWindow, isUnreleased, unfinishedWindows, type WindowRow } from "../storage/windows.ts";
import { type CountingParts, countReports } from "./counting.ts";
import { countShared, finishShared, isHopeless, isShared } from "./shared-counting.ts";
import { fillPool, openWindows } from "./windows.ts";

export interface TallyParts extends CountingParts {
  readonly tasks: TaskRegistry;
  readonly log: Logger;
  /** Unix seconds; throws `ClockInDoubt` while nothing may be done that cannot be undone. */
  readonly now: () => number;
  readonly keysAhead: number;
  readonly pollMilliseconds: number;
  /** Noise with which the count of invalid reports begins. */
  readonly invalidNoise: () => number;
  /** Then reports of windows that are still open are counted later: devices wait for intake, nobody waits for the tally. */
  readonly isIntakeBusy: () => boolean;
  /** Does what was asked of processes that hold no keys. */
  readonly answerRequests: () => Promise<void>;
  /** Before a window closes, so that its release tells what was refused. */
  readonly beforeClose: () => Promise<void>;
  readonly onLooked: () => void;
  readonly onFailed: () => void;
  readonly onFinished: (outcome: "released" | "not-enough" | "lost") => void;
  /** Of a leader. */
  readonly helper?: Helper;
  /** A helper's windows begin and end when its leader says so. */
  readonly isHelper?: boolean;
}

/**
 * Everything that happens by itself: windows open, keys are made ahead, reports are counted, windows close, are released and
 * erased. The database says what is to be done, so any step may be cut off and done again.
 */
export interface Tally {
  /** There is something to do: do not wait for the next look. */
  wake(): void;
  /** Undefined if the last look went well. */
  lastError(): Error | undefined;
  /** Ends after what is under way. */
  stop(): Promise<void>;
}

export function startTally(parts: TallyParts): Tally {
  let stopping = false;
  let woken = false;
  let lastError: Error | undefined;
  let rest: (() => void) | undefined;
  const news = createNews();
  let answeredBefore = 0;

  /** A round in which the helper had nothing to do does not tell that it is back. */
  const wentWell = (): void => {
    const answered = parts.helper?.answered();
    const isBack = answered === undefined || answered > answeredBefore;
    if (isBack && news.over()) parts.log.info("tally works again");
  };

  const failed = (error: Error): void => {
    const { code, message: reason } = error as { code?: unknown; message: string };
    answeredBefore = parts.helper?.answered() ?? 0;
    if (news.isNews(`${code} ${reason}`)) parts.log.error({ code, reason }, "tally failed, trying again");
    parts.onFailed();
  };

  const pause = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, parts.pollMilliseconds);
      rest = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  async function run(): Promise<void> {
    while (!stopping) {
      woken = false;
      try {
        if (await lookAround(parts, () => stopping)) woken = true;
        lastError = undefined;
        wentWell();
        parts.onLooked();
      } catch (error) {
        lastError = error instanceof Error ? error : new Error(String(error));
        // That is waited for, and was logged by the clock.
        if (!(lastError instanceof ClockInDoubt)) failed(lastError);
      }
      if (!stopping && (!woken || lastError)) await pause();
    }
  }

  const done = run();
  return {
    wake: () => {
      woken = true;
      rest?.();
    },
    lastError: () => lastError,
    stop: async () => {
      stopping = true;
      rest?.();
      await done;
    },
  };
}

/**
 * Whether to look again at once: there is more to count, or keys are being used up by an intake of another process, which cannot wake this
 * one. What fails for one window does not hold up the others; the first failure is told at the end.
 */
async function lookAround(parts: TallyParts, isStopping: () => boolean): Promise<boolean> {
  const { database, tasks, keyFile, threads, now } = parts;
  // Nothing is begun while the clock is in doubt.
  now();
  await tasks.refresh();
  keyFile.refresh();
  const open = parts.isHelper ? [] : await openWindows(database, tasks, keyFile, now(), parts.invalidNoise);
  const failures: unknown[] = [];
  const attempt = <T>(task: Promise<T>): Promise<T | undefined> =>
    task.catch((error: unknown) => {
      failures.push(error);
      return undefined;
    });
  await attempt(parts.answerRequests());
  const made = await allOf(
    open.map(({ row, task }) => {
      const filling = fillPool(database, threads, keyFile, { row, task }, parts.keysAhead, parts.helper);
      return attempt(filling.catch((error: unknown) => loseIfHopeless(parts, row, task, error).then(() => 0)));
    }),
  );
  let isMore = made.some((keys = 0) => keys > parts.keysAhead / 2);
  for (const window of await unfinishedWindows(database)) {
    if (isStopping()) return false;
    const task = tasks.byId(window.taskId);
    if (task && (await attempt(advance(parts, window, task, isStopping)))) isMore = true;
  }
  if (failures.length > 0) throw failures[0];
  return isMore;
}

/** However many reports come, keys are made and other windows have their turn after so long. */
const COUNTING_MS = 1000;
/** A helper does not keep a window's secret for ever because its leader is gone. */
const FORSAKEN_SECONDS = 7 * 86_400;

/** Takes a window as far as it can go now; whether it was cut off, and there may be more to count. */
async function advance(
  parts: TallyParts,
  window: WindowRow,
  task: TaskVersion,
  isStopping: () => boolean,
): Promise<boolean> {
  const { database, log, now } = parts;
  // A jump since the last window was looked at holds up this one.
  now();
  const named = { task: window.name, window: window.number };
  const erase = async (): Promise<void> => {
    if (await eraseWindow(parts, window, isStopping)) log.info(named, "window erased");
  };
  if (!isUnreleased(window)) {
    await erase();
    return false;
  }
  const { closes } = timesOf(task.manifest, window.number);
  if (parts.isHelper) {
    if (now() < closes + FORSAKEN_SECONDS) return false;
    log.error({ ...named, code: "reports-differ" }, "the leader has not finished this window for a week: it is lost");
    await giveUpWindow(database, task, window, Math.floor(now()));
    parts.onFinished("lost");
    await erase();
    return false;
  }
  const isOver = now() >= closes;
  if (window.state === "collecting" && isOver) {
    await parts.beforeClose();
    if (await closeWindow(database, window.id)) log.info(named, "window closed");
  }
  const mayWait = window.state === "collecting" && !isOver;
  const deadline = performance.now() + COUNTING_MS;
  const isLate = (): boolean => performance.now() > deadline;
  const isPaused = (): boolean => isStopping() || isLate() || (mayWait && parts.isIntakeBusy());
  const outcome = await countAndRelease(parts, window, task, isPaused, isStopping);
  if (!outcome) return isLate() && !isStopping();
  parts.onFinished(outcome);
  log.info({ ...named, outcome }, "window finished");
  await erase();
  return false;
}

async function countAndRelease(
  parts: TallyParts,
  window: WindowRow,
  task: TaskVersion,
  isPaused: () => boolean,
  isStopping: () => boolean,
): Promise<"released" | "not-enough" | "lost" | undefined> {
  const { database, keyFile, threads, now, helper } = parts;
  const at = (): number => Math.floor(now());
  if (!isShared(task)) {
    await countReports(parts, window, task, isPaused);
    return isStopping() ? undefined : releaseWindow(database, threads, keyFile, task, window.id, at());
  }
  if (!helper)
    throw new LetheError("bad-role", "there is a task of two servers: start this service with --role leader");
  try {
    await countShared(parts, helper, window, task, isPaused);
    return isStopping() ? undefined : await finishShared(parts, helper, task, window.id, at());
  } catch (error) {
    await loseIfHopeless(parts, window, task, error);
    return "lost";
  }
}

/** What leader and helper can never count alike is lost at both; any other error is thrown again. */
async function loseIfHopeless(
  { database, log, now }: TallyParts,
  window: WindowRow,
  task: TaskVersion,
  error: unknown,
): Promise<void> {
  if (!(await isHopeless(database, window.id, error))) throw error;
  const { code, message: reason } = error as LetheError;
  log.error({ task: window.name, window: window.number, code, reason }, "window lost");
  await giveUpWindow(database, task, window, Math.floor(now()));
}
