/**
 * Other processes that the lab starts and ends: any command with the interface of `lethe`, whose file the caller names,
 * and ports for them. Imports nothing of the lab.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

type Environment = Readonly<Record<string, string>>;

/** Processes of the command `lethe`. None of them outlives this process. */
export interface LetheProcesses {
  /** Runs the command to its end and returns what it printed. Rejects with its error output if it fails. */
  run(env: Environment, ...args: string[]): Promise<string>;
  /** Starts `lethe serve`, waits until it listens, and returns its address. */
  serve(env: Environment, ...args: string[]): Promise<string>;
  /** Ends all processes that still run and waits for their end. No more can be started. */
  stop(): Promise<void>;
}

/** How long a process may take to end by itself before it is killed. */
const PATIENCE_MS = 5000;

/**
 * Prepares processes of the command in the file `command`. Settings for Lethe in this environment are not passed on.
 */
export function createLetheProcesses(command: string): LetheProcesses {
  const running = new Set<ChildProcess>();
  let isStopped = false;
  const others = Object.entries(process.env).filter(([name]) => !/^(LETHE_|DATABASE_URL$)/.test(name));
  const kill = (): void => {
    for (const child of running) child.kill("SIGKILL");
  };
  process.once("exit", kill);

  function start(env: Environment, args: readonly string[]) {
    if (isStopped) throw new Error(`lethe ${args[0]} was not started: all processes have been stopped`);
    const child = spawn(process.execPath, [command, ...args], {
      env: { ...Object.fromEntries(others), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    running.add(child);
    const errors = text(child.stderr);
    const ended = once(child, "close").then(async ([status]) => {
      running.delete(child);
      return { status: status as number | null, problem: new Error(`lethe ${args[0]} ended: ${await errors}`) };
    });
    return { child, ended };
  }

  return {
    run: async (env, ...args) => {
      const { child, ended } = start(env, args);
      const printed = text(child.stdout);
      const { status, problem } = await ended;
      if (status !== 0) throw problem;
      return printed;
    },
    serve: async (env, ...args) => {
      const { child, ended } = start(env, ["serve", "--json", ...args]);
      const line = once(createInterface(child.stdout), "line").then(([first]) => String(first));
      const first = await Promise.race([line, ended]);
      if (typeof first !== "string") throw first.problem;
      return (JSON.parse(first) as { url: string }).url;
    },
    stop: async () => {
      isStopped = true;
      const ends = [...running].map((child) => {
        child.kill("SIGTERM");
        return once(child, "close");
      });
      const impatient = setTimeout(kill, PATIENCE_MS);
      await Promise.all(ends);
      clearTimeout(impatient);
      process.off("exit", kill);
    },
  };
}
