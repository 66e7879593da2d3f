import { Worker } from "node:worker_threads";
import type { Call, Outcome, Work } from "./thread.ts";

/**
 * Threads that open reports and make keys, so that neither waits for the other, nor HTTP for them. This is the server's
 * one pool; `piscina` would not make it shorter, because typed calls, wiped secrets and a job that fails when its
 * thread dies are ours either way.
 */
export interface Threads {
  /**
   * Calls a function of `thread.ts` in the next thread that is free. Rejects if the function throws, or if its thread
   * dies.
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

/** Starts `count` threads. A thread that dies is replaced. */
export function startThreads(count: number): Threads {
  const waiting: Job[] = [];
  const idle: Worker[] = [];
  const running = new Map<Worker, Job>();
  const all = new Set<Worker>();
  for (let i = 0; i < count; i++) start();

  function start(): void {
    const thread = new Worker(new URL("./thread.js", import.meta.url), { execArgv: [] });
    all.add(thread);
    idle.push(thread);
    thread.on("message", (outcome: Outcome) => {
      const job = running.get(thread);
      running.delete(thread);
      idle.push(thread);
      next();
      if ("result" in outcome) job?.resolve(outcome.result);
      else job?.reject(new Error(outcome.error));
    });
    // For example out of memory: its job fails, and another thread takes its place.
    thread.on("error", (error) => {
      all.delete(thread);
      if (idle.includes(thread)) idle.splice(idle.indexOf(thread), 1);
      running.get(thread)?.reject(error);
      running.delete(thread);
      start();
      next();
    });
  }

  function next(): void {
    while (idle.length > 0 && waiting.length > 0) {
      const [thread, job] = [idle.pop() as Worker, waiting.shift() as Job];
      running.set(thread, job);
      thread.postMessage(job.call);
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
      await Promise.all([...all].map((thread) => thread.terminate()));
    },
  };
}
