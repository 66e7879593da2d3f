import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ServiceOptions } from "@lethe/server";

/** A service in a process of its own, which can be killed. */
export interface ServiceProcess {
  readonly url: string;
  readonly operatorKey: string;
  /** `kill -9`; resolves when it is dead. */
  kill(): Promise<void>;
  /** Asks it to end, and says with which code it did. */
  end(): Promise<number | null>;
}

/** What can be said in JSON. */
type Settings = Omit<ServiceOptions, "log" | "clock" | "enrolment">;

const SCRIPT = `
import { pino } from "pino";
import { startService } from ${JSON.stringify(new URL("../dist/service.js", import.meta.url).href)};
const settings = JSON.parse(process.argv[1]);
const service = await startService(
  { ...settings, log: pino({ level: "silent" }), enrolment: { rate: { perSecond: 1e6, burst: 1e6 } } },
  { invalidNoise: () => 0, pollMilliseconds: 20 },
);
process.on("SIGTERM", () => service.close());
process.stdout.write(JSON.stringify({ url: service.url, operatorKey: service.operatorKey }) + "\\n");
`;

export async function startServiceProcess(settings: Settings): Promise<ServiceProcess> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", SCRIPT, JSON.stringify(settings)], {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((resolve) => child.on("exit", (code) => resolve(code)));
  const { url, operatorKey } = JSON.parse(await firstLine(child)) as { url: string; operatorKey: string };
  return {
    url,
    operatorKey,
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
    end: () => {
      child.kill("SIGTERM");
      return ended;
    },
  };
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
