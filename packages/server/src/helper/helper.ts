/**
 * The helper of two servers. It does little by itself: it answers its leader, whose requests decide when the helper's
 * windows open, count and close. This folder may import `between`, `protocol`, `release`, `rounds`, `tally`, `tasks`,
 * `clock` and `storage`, never `leader`. Start reading here: every answer has its own file, and `verify-reports.ts` is
 * the one that counts.
 */

import type { Logger } from "pino";
import type { Operation } from "../between/operation.ts";
import type { OtherServer } from "../between/other-server.ts";
import type { Metrics } from "../http/metrics.ts";
import type { Database } from "../storage/database.ts";
import type { TaskRegistry } from "../storage/tasks.ts";
import type { KeyFile } from "../tally/key-file.ts";
import type { Threads } from "../tally/threads.ts";
import { finishWindow } from "./finish-window.ts";
import { issueKeys } from "./issue-keys.ts";
import { takeTask } from "./take-task.ts";
import { verifyReports } from "./verify-reports.ts";

/** What a helper needs to answer its leader. */
export interface HelperParts {
  readonly database: Database;
  readonly tasks: TaskRegistry;
  readonly keyFile: KeyFile;
  readonly threads: Threads;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "counted" | "finished">;
  /** Unix seconds. */
  readonly now: () => number;
  /** The leader. */
  readonly otherServer: OtherServer;
  /** If true, tasks run in windows of seconds, whatever their files say. */
  readonly isDevelopment: boolean;
}

type Answer = (parts: HelperParts, name: string, number: number, payload: Uint8Array) => Promise<Uint8Array>;

/**
 * How a helper answers each operation. The number in a request is a task's version for `task`, and a window otherwise.
 */
export const ANSWERS: Readonly<Record<Operation, Answer>> = {
  task: takeTask,
  keys: issueKeys,
  job: verifyReports,
  finish: finishWindow,
};
