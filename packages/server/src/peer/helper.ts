import type { Logger } from "pino";
import type { Metrics } from "../http/metrics.ts";
import type { Database } from "../storage/database.ts";
import type { TaskRegistry } from "../storage/tasks.ts";
import type { KeyFile } from "../tally/key-file.ts";
import type { Threads } from "../tally/threads.ts";
import type { Peer } from "./client.ts";
import { finishWindow } from "./finish-window.ts";
import { issueKeys } from "./issue-keys.ts";
import type { Operation } from "./operation.ts";
import { takeTask } from "./take-task.ts";
import { verifyReports } from "./verify-reports.ts";

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
  readonly peer: Peer;
  /** Then tasks run in windows of seconds, whatever their files say. */
  readonly isDevelopment: boolean;
}

type Answer = (parts: HelperParts, name: string, number: number, payload: Uint8Array) => Promise<Uint8Array>;

/** How a helper answers its leader; of a task the number is its version, else a window. */
export const ANSWERS: Readonly<Record<Operation, Answer>> = {
  task: takeTask,
  keys: issueKeys,
  job: verifyReports,
  finish: finishWindow,
};
