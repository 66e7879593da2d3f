import { LetheError } from "@lethe/core/error";
import type { Jobs } from "./jobs.ts";
import type { Done, Job } from "./worker.ts";

interface Waiting {
  readonly input: unknown;
  readonly resolve: (output: never) => void;
  readonly reject: (error: LetheError) => void;
}

/** One worker, which does one job after the other. */
interface Planner {
  readonly worker: Worker;
  readonly waiting: Map<keyof Jobs, Waiting>;
  running?: Waiting;
  last: number;
}

/** Jobs that take milliseconds share a worker. */
const QUICK: readonly (keyof Jobs)[] = ["templates", "check", "picture"];

const planners = new Map<string, Planner>();

/**
 * Has the planner's worker do a job. Every kind of job has its own worker, so that a long one delays no other; quick ones
 * share one. While one runs, only the newest of the same kind waits: older ones are never answered.
 */
export function runJob<Name extends keyof Jobs>(
  name: Name,
  input: Parameters<Jobs[Name]>[0],
): Promise<Awaited<ReturnType<Jobs[Name]>>> {
  const place = QUICK.includes(name) ? "quick" : name;
  const planner = planners.get(place) ?? startPlanner(place);
  planners.set(place, planner);
  return new Promise((resolve, reject) => {
    planner.waiting.set(name, { input, resolve, reject });
    next(planner);
  });
}

function startPlanner(place: string): Planner {
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  const planner: Planner = { worker, waiting: new Map(), last: 0 };
  worker.addEventListener("message", ({ data }: MessageEvent<Done>) => {
    const { running } = planner;
    if (data.id !== planner.last || !running) return;
    delete planner.running;
    if ("output" in data) running.resolve(data.output as never);
    else running.reject(new LetheError(data.failed.code, data.failed.message));
    next(planner);
  });
  worker.addEventListener("error", () => {
    // It may not have been loaded at all, and would answer nothing: the next job starts another one.
    planners.delete(place);
    worker.terminate();
    const failed = new LetheError("service-failed", "the planner could not be loaded: try again");
    for (const { reject } of [planner.running, ...planner.waiting.values()].filter((job) => job !== undefined)) {
      reject(failed);
    }
  });
  return planner;
}

function next(planner: Planner): void {
  const [first] = planner.waiting;
  if (planner.running || !first) return;
  const [name, job] = first;
  planner.waiting.delete(name);
  planner.running = job;
  planner.last++;
  planner.worker.postMessage({ id: planner.last, name, input: job.input } satisfies Job);
}
