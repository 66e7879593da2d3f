import { randomBytes } from "node:crypto";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Release, Task } from "@lethe/core/message";
import { runFleet } from "../fleet/fleet.ts";
import { freePort } from "../processes/free-port.ts";
import { createLetheProcesses, type LetheProcesses } from "../processes/lethe-process.ts";
import { createRecord, type DemoRecord } from "./record.ts";
import { type Demo, type DemoResult, resultOf } from "./result.ts";

/** How a demonstration with two servers runs. */
export interface TwoServerDemoOptions {
  /** The file of the command `lethe`: leader, helper and analyst are processes of it. */
  readonly command: string;
  readonly devices?: number;
  /** The port of the leader; 0 takes any free port. */
  readonly port: number;
  /** Ends all processes at once, also while they start. */
  readonly signal?: AbortSignal;
}

const DEVICES = 40;
const MINIMUM_DEVICES = 10;
/** Every write of a device encrypts eleven shared bits again, which takes tens of milliseconds. */
const TASK: Task = {
  version: 1,
  task: "editor-health",
  tickSeconds: 3,
  ticks: 6,
  // Windows are closed as soon as all devices have reported.
  graceSeconds: 3600,
  mode: "two-server",
  minimumDevices: MINIMUM_DEVICES,
  metrics: [
    { name: "export.failed", statistic: "occurrence", localEpsilon: 2 },
    { name: "app.crashed", statistic: "occurrence", noise: "servers", sigma: 1 },
    { name: "export.clicks", statistic: "histogram", edges: [0, 1, 2], localEpsilon: 2 },
    { name: "files.opened", statistic: "histogram", edges: [0, 1, 2], noise: "servers", sigma: 1 },
    { name: "tabs.opened", statistic: "mean", limit: 3, sigma: 1 },
  ],
};
/** The probability of an event in a tick. */
const RATE = 0.2;

/**
 * Starts leader and helper as processes, each with its own store, keys and token. Each window runs some dozens of
 * devices, each with the SDK, over HTTP.
 */
export async function openTwoServerDemo({
  command,
  devices = DEVICES,
  port,
  signal,
}: TwoServerDemoOptions): Promise<Demo> {
  const folder = mkdtempSync(join(tmpdir(), "lethe-demo-"));
  const processes = createLetheProcesses(command);
  signal?.addEventListener("abort", () => void processes.stop());
  const close = async (): Promise<void> => {
    await processes.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const { task, ticks } = TASK;
    const file = join(folder, "demonstration.json");
    const record = createRecord({ task, devices, ticks }, (current) => replaceFile(file, JSON.stringify(current)));
    const pair = await startPair(processes, { folder, devices, port, demonstration: file });
    return {
      urls: [pair.leader.url, pair.helper.url],
      adminToken: pair.leader.env.LETHE_ADMIN_TOKEN,
      ...{ task, devices, ticks },
      runWindow: (progress) => runWindow(processes, pair, record, progress),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A reader gets the whole of the old content or of the new one. */
function replaceFile(file: string, content: string): void {
  writeFileSync(`${file}.new`, content);
  renameSync(`${file}.new`, file);
}

async function runWindow(
  processes: LetheProcesses,
  { leader, helper }: Pair,
  record: DemoRecord,
  progress: (share: number) => void = () => {},
): Promise<DemoResult> {
  const started = performance.now();
  const { task, devices } = record.current();
  const keys = { operatorKey: leader.key, helperKey: helper.key };
  const options = { server: leader.url, task, devices, rate: RATE, ...keys };
  const { window, truth } = await runFleet(options, ({ received, ...running }) => {
    record.watch(running);
    if (received > 0) progress(received / devices);
  });
  record.addTruth(window, truth);
  await processes.run(leader.env, "task", "close", task, `${window}`, "--server", leader.url);
  // An analyst is neither of the two operators.
  const release = await processes.run(
    {},
    ...["collect", "--task", task, "--window", `${window}`, "--wait", "--json"],
    ...["--leader", leader.url, "--leader-key", leader.key],
    ...["--helper", helper.url, "--helper-key", helper.key],
  );
  return resultOf(JSON.parse(release) as Release, truth, { devices, started });
}

/** What one of the two operators has. */
interface Operator {
  readonly env: Readonly<Record<"LETHE_DATA" | "LETHE_PEER_SECRET" | "LETHE_ADMIN_TOKEN", string>>;
  readonly key: string;
  readonly url: string;
}

interface Pair {
  readonly leader: Operator;
  readonly helper: Operator;
}

interface PairOptions {
  readonly folder: string;
  readonly devices: number;
  /** Of the leader. */
  readonly port: number;
  /** The file with what the leader's console shows of the devices. */
  readonly demonstration: string;
}

/**
 * Sets the two servers up as two operators would. Each knows the other's key, and both know one secret; the helper's
 * operator agrees to the task, the leader's operator creates it.
 */
async function startPair(
  processes: LetheProcesses,
  { folder, devices, port, demonstration }: PairOptions,
): Promise<Pair> {
  const secret = randomBytes(32).toString("base64url");
  const envOf = (role: string): Operator["env"] => ({
    LETHE_DATA: join(folder, role),
    LETHE_PEER_SECRET: secret,
    LETHE_ADMIN_TOKEN: crypto.randomUUID(),
  });
  const env = { leader: envOf("leader"), helper: envOf("helper") };
  const keyOf = async (role: keyof typeof env): Promise<string> => (await processes.run(env[role], "key")).trim();
  const [leaderKey, helperKey] = await Promise.all([keyOf("leader"), keyOf("helper")]);
  const file = join(folder, "task.json");
  writeFileSync(file, JSON.stringify({ ...TASK, minimumDevices: Math.min(devices, MINIMUM_DEVICES) }));

  const serve = (role: keyof typeof env, ...args: string[]): Promise<string> =>
    processes.serve(env[role], "--role", role, "--threads", "1", ...args);
  // Both at once: most of the time goes into creating their databases.
  const helperPort = await freePort();
  const [leader, helper] = await Promise.all([
    serve(
      "leader",
      ...["--port", `${port}`, "--peer", `http://127.0.0.1:${helperPort}`, "--peer-key", helperKey],
      ...["--keys-ahead", `${devices}`, "--enrolment-rate", "1000", "--demonstration", demonstration],
    ),
    serve("helper", "--port", `${helperPort}`, "--peer-key", leaderKey),
  ]);
  await processes.run(env.helper, "task", "agree", file, "--server", helper);
  await processes.run(env.leader, "task", "create", file, "--server", leader);
  return {
    leader: { env: env.leader, key: leaderKey, url: leader },
    helper: { env: env.helper, key: helperKey, url: helper },
  };
}
