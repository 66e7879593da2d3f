import { Worker } from "node:worker_threads";
import type { Outcome } from "./thread.ts";
import type { Call, Work } from "./work.ts";

/**
 * Threads that open reports and make keys, so that neither waits for the other, nor HTTP for them. This is the server's
 * one pool; `piscina` would not make it shorter, because typed calls, wiped secrets and a job that fails when its
 * thread dies are ours either way.
 */
export interface Threads {
  /**
   * Calls a function of `work.ts` in the thread that has least to do. Rejects if the function throws, or if its
   * thread dies.
   */
  run<Name extends keyof Work>(name: Name, ...args: Parameters<Work[Name]>): Promise<ReturnType<Work[Name]>>;
  readonly count: number;
  /** Ends all threads. Jobs under way never settle. */
  close(): Promise<void>;
}

interface Job {
  readonly call: Call;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The job that a thread is at, and the next one: between the two it does not wait for this thread, which is busy. */
const MOST_JOBS = 2;

/** Starts `count` threads. A thread that dies is replaced. */
export function startThreads(count: number): Threads {
  const waiting: Job[] = [];
  /** What each thread was sent and has not answered; it answers in this order. */
  const threads = new Map<Worker, Job[]>();
  for (let i = 0; i < count; i++) start();

  function start(): void {
    const thread = new Worker(new URL("./thread.js", import.meta.url), { execArgv: [] });
    const jobs: Job[] = [];
    threads.set(thread, jobs);
    thread.on("message", (outcome: Outcome) => {
      const job = jobs.shift();
      next();
      if ("result" in outcome) job?.resolve(outcome.result);
      else job?.reject(new Error(outcome.error));
    });
    // For example out of memory: its jobs fail, and another thread takes its place.
    thread.on("error", (error) => {
      threads.delete(thread);
      for (const { reject } of jobs) reject(error);
      start();
      next();
    });
  }

  /** Each job goes to the thread that has least to do. */
  function next(): void {
    for (let most = 1; most <= MOST_JOBS; most++) {
      for (const [thread, jobs] of threads) {
        if (jobs.length >= most) continue;
        const job = waiting.shift();
        if (!job) return;
        jobs.push(job);
        thread.postMessage(job.call);
      }
    }
  }

  return {
    count,
    run: (name, ...args) =>
      new Promise((resolve, reject) => {
        const call = [name, ...args] as unknown as Call;
        waiting.push({ call, resolve: resolve as (result: unknown) => void, reject });
        next();
      }),
    close: async () => {
      await Promise.all([...threads.keys()].map((thread) => thread.terminate()));
    },
  };
}
