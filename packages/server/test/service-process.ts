import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { ServiceOptions } from "@lethe/server";
import type { ServiceInternals } from "../dist/service.js";
import type { ShiftedClock } from "./shifted-clock.ts";

/** A service in a separate process, which tests can kill. `kill` and `end` reject if it has ended by itself. */
export interface ServiceProcess {
  readonly url: string;
  readonly operatorKey: string;
  readonly pid: number;
  /** Warnings and errors in its log, a line each. */
  readonly logged: readonly string[];
  /** `kill -9`; resolves when it is dead. */
  kill(): Promise<void>;
  /** Asks it to end, and says with which code it did. */
  end(): Promise<number | null>;
  /** It stands still, and its connections stay open. */
  pause(): void;
  resume(): void;
}

/** What can be said in JSON. */
type Settings = Omit<ServiceOptions, "log" | "clock" | "enrolment"> &
  Pick<ServiceInternals, "leaseSeconds" | "webhookMilliseconds" | "silenceMilliseconds"> & {
    /** The file of its log; by default it is silent. */
    readonly logFile?: string;
  };

const LOG = 3;

const SCRIPT = `
import { pino } from "pino";
import { startService } from ${JSON.stringify(new URL("../dist/service.js", import.meta.url).href)};
const { leaseSeconds, webhookMilliseconds, silenceMilliseconds, logFile, ...settings } = JSON.parse(process.argv[1]);
const service = await startService(
  { ...settings, log: logFile ? pino(pino.destination({ dest: logFile, sync: true })) : pino({ level: "warn" }, pino.destination(${LOG})), enrolment: { rate: { perSecond: 1e6, burst: 1e6 }, mostPerAddress: 1e6 } },
  { invalidNoise: () => 0, pollMilliseconds: 40, leaseSeconds, webhookMilliseconds, silenceMilliseconds },
);
// The tests have ended, however they did.
process.stdin.on("end", () => process.exit(1)).resume().unref();
process.on("SIGTERM", () => service.close());
process.stdout.write(JSON.stringify({ url: service.url, operatorKey: service.operatorKey }) + "\\n");
`;

/** How it is started: `mostFiles` limits how many files it may have open. */
interface Surroundings {
  readonly mostFiles?: number;
  readonly clock?: ShiftedClock;
}

export async function startServiceProcess(
  settings: Settings,
  { mostFiles, clock }: Surroundings = {},
): Promise<ServiceProcess> {
  const limited = mostFiles === undefined ? [] : ["bash", "-c", `ulimit -n ${mostFiles}; exec "$0" "$@"`];
  const flags = [...(clock?.arguments ?? []), "--input-type=module", "-e", SCRIPT];
  const [command = "", ...args] = [...limited, process.execPath, ...flags, JSON.stringify(settings)];
  const child = spawn(command, args, {
    env: { ...process.env, ...clock?.environment },
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    stdio: ["pipe", "pipe", "inherit", "pipe"],
  });
  const logged: string[] = [];
  createInterface(child.stdio[LOG] as Readable).on("line", (line) => logged.push(line));
  const ended = new Promise<number | null>((resolve) => child.on("exit", (code) => resolve(code)));
  const endBy = (signal: "SIGKILL" | "SIGTERM"): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      return ended;
    }
    return Promise.reject(new Error(`the service had ended by itself: ${child.signalCode ?? child.exitCode}`));
  };
  const { url, operatorKey } = JSON.parse(await firstLine(child)) as { url: string; operatorKey: string };
  return {
    url,
    operatorKey,
    pid: child.pid as number,
    logged,
    kill: async () => {
      await endBy("SIGKILL");
    },
    end: () => endBy("SIGTERM"),
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
  };
}

/** `fetch` fails with a TypeError when nobody answers; anything else is a finding. */
export function unlessGone(error: unknown): undefined {
  if (!(error instanceof TypeError)) throw error;
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const end = text.indexOf("\n");
      if (end >= 0) resolve(text.slice(0, end));
    });
    child.on("exit", (code) => reject(new Error(`the service ended with ${code} before it listened`)));
  });
}
