import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

type Environment = Readonly<Record<string, string>>;

/** The command `lethe` in processes of their own, none of which outlives this one. */
export interface LetheProcesses {
  /** Runs it to its end; what it printed. */
  run(env: Environment, ...args: string[]): Promise<string>;
  /** Starts `lethe serve` and waits until it listens; where. */
  serve(env: Environment, ...args: string[]): Promise<string>;
  /** Ends all that still run, and waits for it; no more are started. */
  stop(): Promise<void>;
}

/** How long a process may take to end well. */
const PATIENCE_MS = 5000;

/** `command` is the file of the command; what the environment tells Lethe is not for these. */
export function createLetheProcesses(command: string): LetheProcesses {
  const running = new Set<ChildProcess>();
  let isStopped = false;
  const others = Object.entries(process.env).filter(([name]) => !/^(LETHE_|DATABASE_URL$)/.test(name));
  const kill = (): void => {
    for (const child of running) child.kill("SIGKILL");
  };
  process.once("exit", kill);

  function start(env: Environment, args: readonly string[]) {
    if (isStopped) throw new Error(`lethe ${args[0]} was not started: all is at an end`);
    const child = spawn(process.execPath, [command, ...args], {
      env: { ...Object.fromEntries(others), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    running.add(child);
    const said = text(child.stderr);
    const ended = once(child, "close").then(async ([status]) => {
      running.delete(child);
      return { status: status as number | null, problem: new Error(`lethe ${args[0]} ended: ${await said}`) };
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
