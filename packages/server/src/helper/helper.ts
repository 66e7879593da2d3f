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

/**
 * This folder is the helper of two servers. It does nothing by itself but erase: it answers its leader, and what the leader asks decides when its
 * windows open, count and close. It may import `between`, `release`, `rounds`, `tally` and `storage`, never `leader`. Start reading here: each
 * answer has a file of its own, and `verify-reports.ts` is the one that counts.
 */
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

/** How a helper answers each operation. The number in a request is a task's version for `task`, and a window otherwise. */
export const ANSWERS: Readonly<Record<Operation, Answer>> = {
  task: takeTask,
  keys: issueKeys,
  job: verifyReports,
  finish: finishWindow,
};
