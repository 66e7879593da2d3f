import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { copyEmptyDatabase } from "../../server/test/folder.ts";

/** The file of the command. */
export const bin: string = fileURLToPath(new URL("../bin/lethe.js", import.meta.url));

interface Surroundings {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the real command; of Lethe's variables it sees those given only. */
export function letheWith({ cwd, env }: Surroundings, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], {
    encoding: "utf8",
    ...(cwd !== undefined && { cwd }),
    env: environment(env),
  });
  return { status, stdout, stderr };
}

/** In a folder. */
export function letheIn(cwd: string, ...args: string[]) {
  return letheWith({ cwd }, ...args);
}

export function lethe(...args: string[]) {
  return letheWith({}, ...args);
}

/** A service in a separate process. */
export interface RunningService {
  readonly process: ChildProcess;
  /** What it printed when it listened. */
  readonly url: string;
  readonly operatorKey: string;
  readonly data: string;
  readonly keyFile: string;
  /** Its exit code and everything it logged. */
  readonly ended: Promise<{ status: number | null; stderr: string }>;
}

/** On a busy machine the first start of the embedded database takes a while. */
export const START_TIMEOUT = 300_000;

/** What a simulated fleet prints if its window of seconds ended before all of its devices had reported. */
const TOO_LATE = /\bwindow\b.* ended before /;

/** Runs a simulated fleet, and again if the machine was too busy for its window, as the command advises. */
export function simulateInTime<T extends { readonly status: number | null; readonly stderr: string }>(
  simulate: () => T,
): T {
  const MOST_TRIES = 20;
  for (let tries = 1; ; tries++) {
    const result = simulate();
    if (result.status === 0 || tries === MOST_TRIES || !TOO_LATE.test(result.stderr)) return result;
  }
}

/**
 * Starts `lethe serve --dev` on a free port, in a folder. The caller kills it. `command` is another `lethe` than this repository's.
 * The service finds an empty database, unless that is "new": then it creates one, which takes long. `within` is a command that
 * runs the service, for example with limits.
 */
export async function startService(
  {
    cwd,
    env,
    command = bin,
    database,
    within = [],
    windows = "of seconds",
  }: Surroundings & {
    cwd: string;
    command?: string;
    database?: "new";
    within?: readonly string[];
    windows?: "of seconds" | "as the task says";
  },
  ...args: string[]
): Promise<RunningService> {
  if (database !== "new" && env?.DATABASE_URL === undefined) {
    const at = args.indexOf("--data");
    await provideDatabase(resolve(cwd, (at < 0 ? env?.LETHE_DATA : args[at + 1]) ?? "lethe-data"));
  }
  const dev = windows === "of seconds" ? ["--dev"] : [];
  const serve = [process.execPath, command, "serve", ...dev, "--port", "0", "--json", ...args];
  const [program = "", ...rest] = [...within, ...serve];
  // Not a pipe: nobody reads it while a test waits for a command, and a service that cannot log does not answer.
  const logs = mkdtempSync(join(tmpdir(), "lethe-log-"));
  const log = openSync(join(logs, "stderr"), "w");
  const child = spawn(program, rest, { cwd, env: environment(env), stdio: ["ignore", "pipe", log] });
  closeSync(log);
  process.once("exit", () => child.kill("SIGKILL"));
  const ended = once(child, "exit").then(([status]) => {
    const stderr = readFileSync(join(logs, "stderr"), "utf8");
    rmSync(logs, { recursive: true });
    return { status: status as number | null, stderr };
  });
  const line = once(createInterface(child.stdout as Readable), "line").then(([line]) => String(line));
  const first = await Promise.race([line, ended]);
  if (typeof first !== "string") throw new Error(`lethe serve ended: ${first.stderr}`);
  return { process: child, ended, ...(JSON.parse(first) as Omit<RunningService, "process" | "ended">) };
}

async function provideDatabase(data: string): Promise<void> {
  if (!existsSync(data)) await copyEmptyDatabase(data);
}

/** What a child sees: of Lethe's variables those given only. */
export function environment(own: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(([name]) => !/^(LETHE_|DATABASE_URL$)/.test(name));
  return { ...Object.fromEntries(others), TZ: "UTC", ...own };
}
