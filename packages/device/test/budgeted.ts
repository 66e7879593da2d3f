import type { LetheError } from "@lethe/core/error";
import type { Task } from "@lethe/core/message";
import { eventually } from "../../server/test/eventually.ts";
import { createTask, EXACT_TASK, startTestService, type TestService } from "../../server/test/service.ts";
import { type Lethe, type LetheOptions, memoryStore, openLethe, type Store } from "../dist/index.js";

export const DAY = 86_400;
/** Windows of a day; an answer costs ε₀ = 1. */
export const DAILY: Task = {
  ...EXACT_TASK,
  task: "daily",
  tickSeconds: DAY / 2,
  graceSeconds: 3 * DAY,
  minimumDevices: 1,
  metrics: [{ name: "happened", statistic: "occurrence", localEpsilon: 1 }],
};

/** A report that began to leave a device. */
export interface Left {
  readonly task: string;
  readonly window: number;
  /** Of which enrolment. */
  readonly path: string;
}

export interface BudgetedDevice {
  readonly lethe: Lethe;
  readonly problems: LetheError[];
}

/** A service with daily tasks, and a record of every report that began to leave a device. */
export interface BudgetedService {
  readonly service: TestService;
  readonly left: Left[];
  readonly watched: typeof fetch;
  addTask(task: Task): Promise<void>;
  open(options: Partial<LetheOptions>): Promise<BudgetedDevice>;
  /** To the beginning of the next window. */
  nextDay(): void;
  remove(): Promise<void>;
}

export async function startBudgetedService(): Promise<BudgetedService> {
  const service = await startTestService({ enrolment: { rate: { perSecond: 1e6, burst: 1e6 } }, keysAhead: 4 });
  const left: Left[] = [];
  const watched: typeof fetch = (input, init) => {
    const path = new URL(String(input)).pathname;
    const [, , , task = "", , window] = path.split("/");
    if (init?.method === "PUT") left.push({ task, window: Number(window), path });
    return fetch(input, init);
  };
  return {
    service,
    left,
    watched,
    addTask: (task) => createTask(service, task),
    open: async (options) => {
      const problems: LetheError[] = [];
      const lethe = await openLethe({
        server: service.url,
        task: DAILY.task,
        operatorKey: service.operatorKey,
        clock: service.clock,
        fetch: watched,
        store: memoryStore(),
        onProblem: (problem) => void problems.push(problem),
        ...options,
      });
      return { lethe, problems };
    },
    nextDay: () => service.clock.advance(DAY - ((service.clock() / 1000) % DAY)),
    remove: () => service.remove(),
  };
}

/** Enrolled and counting, whatever the service's keys take: after a failure, a device waits by its clock. */
export async function untilCounting({ lethe }: BudgetedDevice, { clock }: TestService): Promise<void> {
  await eventually(async () => {
    await lethe.sendPending();
    if (lethe.inspect().memory.length > 0) return true;
    clock.advance(1);
    return undefined;
  });
}

/** Several reports of one enrolment are one. */
export const distinct = (left: readonly Left[]): Left[] => [
  ...new Map(left.map((report) => [report.path, report])).values(),
];

/** Another store with the same budget. */
export const sharing = ({ budget }: Store): Store => ({ ...memoryStore(), ...(budget && { budget }) });
