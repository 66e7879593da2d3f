import { availableParallelism } from "node:os";
import { type MessagePort, Worker } from "node:worker_threads";

/** More would wait for memory. */
const MOST_THREADS = 8;

type Outcome<Result> = { readonly result: Result } | { readonly error: string };

/** Lets a module's threads perform the jobs, as many at once as there are processors. The first failure ends it. */
export async function inThreads<Job, Result>(
  module: URL,
  jobs: readonly Job[],
  onResult: (result: Result, i: number) => void,
): Promise<void> {
  let next = 0;
  let failed = false;

  async function work(): Promise<void> {
    const thread = new Worker(module, { execArgv: [] });
    try {
      while (next < jobs.length && !failed) {
        const i = next++;
        onResult(await ask<Job, Result>(thread, jobs[i] as Job), i);
      }
    } catch (error) {
      failed = true;
      throw error;
    } finally {
      await thread.terminate();
    }
  }

  const count = Math.min(availableParallelism(), MOST_THREADS, jobs.length);
  await Promise.all(Array.from({ length: count }, work));
}

function ask<Job, Result>(thread: Worker, job: Job): Promise<Result> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      thread.off("error", failing);
      thread.off("message", answering);
      thread.off("exit", leaving);
      act();
    };
    const failing = (error: unknown): void => settle(() => reject(error));
    const answering = (outcome: Outcome<Result>): void =>
      settle(() => ("error" in outcome ? reject(new Error(outcome.error)) : resolve(outcome.result)));
    // Without an error, as after `process.exit`: nobody would ever answer.
    const leaving = (code: number): void =>
      failing(new Error(`a thread ended with code ${code} before its job was done`));
    thread.on("exit", leaving);
    thread.on("error", failing);
    thread.on("message", answering);
    thread.postMessage(job);
  });
}

/** In the thread: what it does with each job. */
export function performJobs<Job, Result>(port: MessagePort | null, perform: (job: Job) => Promise<Result>): void {
  if (!port) throw new TypeError("this file runs as a worker thread");
  port.on("message", (job: Job) => {
    perform(job).then(
      (result) => port.postMessage({ result } satisfies Outcome<Result>),
      (error: unknown) => port.postMessage({ error: String(error) } satisfies Outcome<Result>),
    );
  });
}
