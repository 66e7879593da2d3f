/**
 * All that devices ask of a service: to be enrolled and to report. An intake holds no secret: keys come from the pool
 * that a process with keys fills, and reports are stored unopened. This folder may import `protocol`, `storage`, `log`
 * and `async`. Start reading here, then `desks.ts`, `enrol.ts` and `upload.ts`.
 */

import { type ProblemCode, phaseOf } from "@lethe/core/message";
import type { Logger } from "pino";
import { createNews } from "../log/news.ts";
import type { Databases } from "../storage/databases.ts";
import type { TaskRegistry } from "../storage/tasks.ts";
import type { WindowIdentity } from "../storage/windows.ts";
import { createAdmission, DEFAULT_RULES, type EnrolmentRequest, type EnrolmentRules } from "./admission.ts";
import { createDesks } from "./desks.ts";
import type { Enrolled } from "./enrol.ts";
import { createNetworkLimit } from "./network-limit.ts";
import { createRefusalCounter } from "./refusals.ts";
import type { Receipt, Upload } from "./upload.ts";

/** All that devices ask of a service. It holds no secret: keys come from the pool that a tally fills. */
export interface Intake {
  /** Throws if this request may not enrol a device. */
  readonly admit: (request: EnrolmentRequest) => Promise<void>;
  /** `group` is the place of the device's group among those of the task. */
  readonly enrol: (window: WindowIdentity, address: string, group: number) => Promise<Enrolled>;
  readonly upload: (upload: Upload) => Promise<Receipt>;
  /** Many reports came together, just now. */
  readonly isBusy: () => boolean;
  /** For what a device asked of a window. */
  readonly refused: (task: string, window: number, code: ProblemCode) => void;
  /** Stores the counts of refusals. */
  readonly flush: () => Promise<void>;
  /** Undefined if the last look at the database went well. */
  readonly lastError: () => Error | undefined;
  readonly stop: () => Promise<void>;
}

const LOOK_EVERY_MS = 1000;

/** Starts an intake: it looks for new tasks and stores refusals every second. */
export function startIntake({
  databases,
  tasks,
  log,
  now,
  wake,
  enrolment,
}: {
  readonly databases: Databases;
  readonly tasks: TaskRegistry;
  readonly log: Logger;
  /** Unix seconds. */
  readonly now: () => number;
  /** Keys were taken out of the pool. */
  readonly wake: () => void;
  readonly enrolment?: Partial<EnrolmentRules>;
}): Intake {
  const rules = { ...DEFAULT_RULES, ...enrolment };
  const refusals = createRefusalCounter(databases.first, (name, number) => {
    const task = tasks.inWindow(name, number);
    return task !== undefined && !["later", "over"].includes(phaseOf(task.manifest, number, now()));
  });
  const networks = createNetworkLimit(rules.mostPerAddress);
  const desks = createDesks(databases, { networks, mostPerWindow: rules.mostPerWindow, onClaimed: wake });
  let lastError: Error | undefined;
  const news = createNews();

  /**
   * By the clock alone: enrolments of a window that was closed manually are refused, and its counts go when its time is
   * over.
   */
  function isEnrolmentOpen({ name, number }: WindowIdentity): boolean {
    const task = tasks.inWindow(name, number);
    return task !== undefined && ["next", "running"].includes(phaseOf(task.manifest, number, now()));
  }

  /** New tasks and versions are found, refusals are written down. */
  async function look(): Promise<void> {
    try {
      await tasks.refresh();
      await refusals.flush();
      lastError = undefined;
      if (news.over()) log.info("intake can use the database again");
    } catch (error) {
      lastError = error instanceof Error ? error : new Error(String(error));
      const { message: reason } = lastError;
      if (news.isNews(reason)) log.error({ reason }, "intake cannot use the database, trying again");
    }
  }
  let looking: Promise<void> | undefined;
  const timer = setInterval(() => {
    networks.keepOnly(isEnrolmentOpen);
    desks.keepOnly(isEnrolmentOpen);
    // With a database that does not answer a look takes long.
    looking ??= look().finally(() => {
      looking = undefined;
    });
  }, LOOK_EVERY_MS);

  return {
    admit: createAdmission(rules, now),
    enrol: desks.enrol,
    upload: desks.upload,
    isBusy: desks.isBusy,
    refused: refusals.count,
    flush: refusals.flush,
    lastError: () => lastError,
    stop: async () => {
      clearInterval(timer);
      networks.keepOnly(() => false);
      await looking;
      // Without a database the last second's counts are lost, as in a crash.
      await refusals.flush().catch((error: Error) => log.error({ reason: error.message }, "refusals are not counted"));
    },
  };
}
