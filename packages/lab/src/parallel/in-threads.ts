import { availableParallelism } from "node:os";
import { type MessagePort, Worker } from "node:worker_threads";
import { inParallel } from "./in-parallel.ts";

/** More threads would wait for memory. */
const MOST_THREADS = 8;

type Outcome<Result> = { readonly result: Result } | { readonly error: string };

/**
 * Performs jobs in worker threads that run `module`, as many at once as there are processors. `onResult` gets each
 * result with the number of its job, in any order. The first failure stops all threads and rejects.
 */
export async function inThreads<Job, Result>(
  module: URL,
  jobs: readonly Job[],
  onResult: (result: Result, i: number) => void,
): Promise<void> {
  const count = Math.min(availableParallelism(), MOST_THREADS, jobs.length);
  const threads = Array.from({ length: count }, () => new Worker(module, { execArgv: [] }));
  const idle = [...threads];
  const perform = async (i: number): Promise<void> => {
    // Never more jobs at once than there are threads.
    const thread = idle.pop() as Worker;
    onResult(await ask<Job, Result>(thread, jobs[i] as Job), i);
    idle.push(thread);
  };
  try {
    await inParallel(jobs.length, perform, count);
  } finally {
    await Promise.all(threads.map((thread) => thread.terminate()));
  }
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
    // A thread that calls `process.exit` ends without an error: nobody would ever answer.
    const leaving = (code: number): void =>
      failing(new Error(`a thread ended with code ${code} before its job was done`));
    thread.on("exit", leaving);
    thread.on("error", failing);
    thread.on("message", answering);
    thread.postMessage(job);
  });
}

/**
 * Called by the module of a thread: performs each job that `inThreads` sends, and answers with its result or its error.
 */
export function performJobs<Job, Result>(port: MessagePort | null, perform: (job: Job) => Promise<Result>): void {
  if (!port) throw new TypeError("this file runs as a worker thread");
  port.on("message", (job: Job) => {
    perform(job).then(
      (result) => port.postMessage({ result } satisfies Outcome<Result>),
      (error: unknown) => port.postMessage({ error: String(error) } satisfies Outcome<Result>),
    );
  });
}
