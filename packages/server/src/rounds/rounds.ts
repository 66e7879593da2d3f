/**
 * Everything that happens by itself in a process that holds keys, in rounds: windows open, keys are made ahead, reports
 * are counted, windows close, are released and erased. The database says what is to be done, so any step may be
 * interrupted and repeated. This folder may import `protocol`, `release`, `tally`, `clock`, `storage`, `log` and
 * `async`. Start reading in `round.ts`.
 */

import type { Logger } from "pino";
import { ClockInDoubt } from "../clock/doubt.ts";
import type { Helper } from "../leader/client.ts";
import { createNews } from "../log/news.ts";

/** What the loop reports to, and how often it runs. */
export interface LoopParts {
  readonly log: Logger;
  /** What works in these rounds, for the log; by default the tally. */
  readonly what?: string;
  readonly pollMilliseconds: number;
  readonly onLooked: () => void;
  readonly onFailed: () => void;
  /** At a leader. */
  readonly helper?: Pick<Helper, "answered"> | undefined;
}

/** The rounds of a running process. */
export interface Rounds {
  /** Begins the next round without waiting for its time. */
  wake(): void;
  /** Undefined if the last round succeeded. */
  lastError(): Error | undefined;
  /** Resolves after the round under way. */
  stop(): Promise<void>;
}

/**
 * Runs rounds until it is stopped. `round` returns whether to begin the next one at once. A round that fails is logged
 * and tried again.
 */
export function startRounds(parts: LoopParts, round: (isStopping: () => boolean) => Promise<boolean>): Rounds {
  let stopping = false;
  let woken = false;
  let lastError: Error | undefined;
  let rest: (() => void) | undefined;
  const { succeeded, failed } = createLogbook(parts);

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
        if (await round(() => stopping)) woken = true;
        lastError = undefined;
        succeeded();
      } catch (error) {
        lastError = error instanceof Error ? error : new Error(String(error));
        failed(lastError);
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

/** Logs a failure that lasts once, and that it is over. */
function createLogbook({ log, what = "tally", helper, onLooked, onFailed }: LoopParts): {
  readonly succeeded: () => void;
  readonly failed: (error: Error) => void;
} {
  const news = createNews();
  let answeredBefore = 0;
  return {
    succeeded: () => {
      const answered = helper?.answered();
      // A round that asked the helper nothing does not show that the helper is back.
      const isBack = answered === undefined || answered > answeredBefore;
      if (isBack && news.over()) log.info(`${what} works again`);
      onLooked();
    },
    failed: (error) => {
      // The clock has logged that, and the next round waits for it.
      if (error instanceof ClockInDoubt) return;
      const { code, message: reason } = error as { code?: unknown; message: string };
      answeredBefore = helper?.answered() ?? 0;
      if (news.isNews(`${code} ${reason}`)) log.error({ code, reason }, `${what} failed, trying again`);
      onFailed();
    },
  };
}
