import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { REGISTRY } from "./registry.ts";
import type { RunResult } from "./run.ts";
import type { Target } from "./target.ts";
import type { Job } from "./worker.ts";

/** A worker that says nothing for this long hangs where it cannot be interrupted. */
const SILENCE_MS = 600_000;
const folder = fileURLToPath(new URL(".", import.meta.url));

/**
 * Compiles a program of this folder, because Node 20 runs no TypeScript. Output of earlier builds, in `dist` and in
 * node_modules, is imported from where it is: so there is one of each class.
 */
export async function compile(program: string, into: string): Promise<string> {
  const bundle = await rolldown({
    input: join(folder, program),
    platform: "node",
    plugins: [
      {
        name: "built",
        async resolveId(source, importer, options) {
          if (source.startsWith("node:")) return { id: source, external: true };
          const found = await this.resolve(source, importer, { ...options, skipSelf: true });
          const isBuilt = found !== null && /\/(dist|node_modules)\//.test(found.id);
          return isBuilt ? { id: pathToFileURL(found.id).href, external: true } : found;
        },
      },
    ],
  });
  await bundle.write({ dir: into, format: "esm", entryFileNames: "[name].mjs", chunkFileNames: "[name].mjs" });
  await bundle.close();
  return join(into, program.replace(/\.ts$/, ".mjs"));
}

/** Processes that run jobs of fuzzing, one each at a time. */
export interface Workers {
  /** Never rejects: a process that ends or hangs is a failure of the run. */
  run(job: Extract<Job, { runs: number }>): Promise<RunResult>;
  /** The targets that are set up together with this one. */
  list(target: string): Promise<readonly ListedTarget[]>;
  /** Tries one input. */
  tryInput(target: string, input: string): Promise<unknown>;
  stop(): void;
}

/** What is known of a target before it runs. */
export type ListedTarget = Pick<Target, "name" | "covers" | "inCi">;

type Answer = {
  readonly targets?: readonly ListedTarget[];
  readonly at?: number;
  readonly result?: RunResult;
  readonly outcome?: unknown;
  readonly failed?: string;
};

/** A process, and the groups whose targets it has set up. */
interface Worker {
  readonly child: ChildProcess;
  readonly groups: Set<number>;
}

interface Waiting {
  readonly group: number;
  readonly take: (worker: Worker) => void;
}

const groupAt = (target: string): number => REGISTRY.findIndex(({ names }) => names.includes(target));

/** Starts `count` processes. Setting up a group takes seconds, so a process prefers the groups that it has. */
export async function startWorkers(count: number): Promise<Workers> {
  const into = mkdtempSync(join(tmpdir(), "lethe-fuzz-"));
  const program = await compile("worker.ts", into);
  const idle: Worker[] = [];
  const all = new Set<Worker>();
  const waiting: Waiting[] = [];
  const add = (): void => {
    const child = fork(program, { execArgv: ["--max-old-space-size=2048"], stdio: "inherit" });
    const worker = { child, groups: new Set<number>() };
    all.add(worker);
    release(worker);
  };
  const release = (worker: Worker): void => {
    const isElsewhere = (group: number): boolean => [...all].some(({ groups }) => groups.has(group));
    const own = waiting.findIndex(({ group }) => worker.groups.has(group));
    const fresh = waiting.findIndex(({ group }) => !isElsewhere(group));
    const [next] = waiting.splice(Math.max(0, own >= 0 ? own : fresh), 1);
    if (next) next.take(worker);
    else idle.push(worker);
  };
  for (let i = 0; i < count; i++) add();

  async function ask(job: Job): Promise<Answer> {
    const group = groupAt(job.target);
    const [ready] = idle.splice(
      Math.max(
        0,
        idle.findIndex(({ groups }) => groups.has(group)),
      ),
      1,
    );
    const worker = ready ?? (await new Promise<Worker>((take) => waiting.push({ group, take })));
    worker.groups.add(group);
    try {
      return await answerOf(worker.child, job);
    } catch (error) {
      if (worker.child.killed || worker.child.exitCode !== null) all.delete(worker);
      throw error;
    } finally {
      if (all.has(worker)) release(worker);
      else add();
    }
  }

  return {
    run: (job) =>
      ask(job).then(
        ({ result }) => result as RunResult,
        ({ message: what }: Error) => {
          const failure = { target: job.target, what, input: "", from: `seed ${job.seed}` };
          return { target: job.target, runs: 1, accepted: 1, seconds: 1, growth: 0, failures: [failure] };
        },
      ),
    list: async (target) => (await ask({ target, list: true })).targets ?? [],
    tryInput: async (target, input) => (await ask({ target, input })).outcome,
    stop: () => {
      for (const { child } of all) {
        child.removeAllListeners("exit");
        child.disconnect();
      }
      rmSync(into, { recursive: true, force: true });
    },
  };
}

/** Sends a job and waits for its answer, as long as the process shows that it lives. */
function answerOf(child: ChildProcess, job: Job): Promise<Answer> {
  let last = "from" in job ? job.from : 0;
  return new Promise((resolve, reject) => {
    const fail = (what: string): void => {
      child.kill("SIGKILL");
      reject(new Error(`${job.target}: the process ${what}, after input ${last} of ${JSON.stringify(job)}`));
    };
    let timer = setTimeout(fail, SILENCE_MS, "hangs");
    for (const event of ["exit", "message"]) child.removeAllListeners(event);
    child.on("exit", (code, signal) => {
      clearTimeout(timer);
      fail(`ended with ${code ?? signal}`);
    });
    child.on("message", (answer: Answer) => {
      clearTimeout(timer);
      if (answer.at !== undefined) {
        last = answer.at;
        timer = setTimeout(fail, SILENCE_MS, "hangs");
      } else if (answer.failed !== undefined) reject(new Error(`${job.target}: ${answer.failed}`));
      else resolve(answer);
    });
    child.send(job);
  });
}
