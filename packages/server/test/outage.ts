import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Task } from "@lethe/core/message";
import { seededRandomnessForTests } from "@lethe/core/randomness";
import { expect } from "vitest";
import { allOf } from "../dist/async/all-of.js";
import { openPostgres } from "../dist/storage/postgres.js";
import { askToEnrol, fetchTask, inGroup, type KnownTask, upload } from "./device.ts";
import { eventually } from "./eventually.ts";
import { startFlood } from "./flood.ts";
import { unownedFolder } from "./folder.ts";
import { startPostgres } from "./postgres.ts";
import { countedOf, makeReport, requireCountedOnce, runningWindow, type Sent, YEAR_TASK } from "./recount.ts";
import { ADMIN_TOKEN, createTask } from "./service.ts";
import { type ServiceProcess, startServiceProcess, unlessGone } from "./service-process.ts";

const DEVICES = 40;
/** Together they want more than the room that a task gets. */
const FLOOD_CONNECTIONS = 800;
const WINDOW = runningWindow(YEAR_TASK);
const AT_THE_DOOR = "more to do than it can";
const MOST_QUEUED_MB = 350;
const MOST_DRIFT_MB = 100;

/** A report of it has 70 kB. */
const LARGE_TASK: Task = {
  ...YEAR_TASK,
  task: "large",
  metrics: Array.from({ length: 16 }, (_, i) => ({
    ...{ name: `mean-${i}`, statistic: "mean", limit: 10, sigma: 2, eventsPerTick: 20 },
  })) as Task["metrics"],
};

export interface OutageResult {
  /** The memory of the intake, in MB: before the outage, and the most in its first and in its second half. */
  readonly memory: { readonly before: number; readonly first: number; readonly second: number };
  /** Answers to the flood. */
  readonly flood: Readonly<Record<string, number>>;
  /** Answers of 503 to devices: of the flooded task, and of the other. */
  readonly refusedAtTheDoor: { readonly flooded: number; readonly other: number };
}

/**
 * An intake under a flood of uploads to one task loses its database for a time: every process of PostgreSQL stands
 * still. Meanwhile devices of this task and of another try to report, and to enrol, again and again with the same
 * bytes. The memory is bounded, and afterwards every report is counted once.
 */
export async function surviveOutage(seconds: number): Promise<OutageResult> {
  const folder = unownedFolder();
  const keyFile = join(folder, "keys");
  const server = await startPostgres();
  const processes: ServiceProcess[] = [];
  let memory: MemoryWatch | undefined;
  try {
    const databaseUrl = await server.createDatabase();
    const place = { databaseUrl, host: "127.0.0.1", port: 0 };
    const holder = { keyFile, adminToken: ADMIN_TOKEN, threads: 1, keysAhead: 3 * DEVICES };
    const tally = await startServiceProcess({ role: "tally", ...place, ...holder });
    processes.push(tally);
    for (const task of [YEAR_TASK, LARGE_TASK]) await createTask(tally, task);
    const intake = await startServiceProcess({ role: "intake", ...place });
    processes.push(intake);
    const [small, large] = [await fetchTask(tally, YEAR_TASK.task), await fetchTask(tally, LARGE_TASK.task)];
    const devices = { other: startDevices(intake, small), flooded: startDevices(intake, large) };
    await allOf([devices.other.prepare(DEVICES), devices.flooded.prepare(4)]);
    await allOf([devices.other.send(0, DEVICES / 2), devices.flooded.send(0, 2)]);

    const flood = startFlood(intake, large, WINDOW, FLOOD_CONNECTIONS);
    await eventually(async () => [...flood.answers.keys()].some((answer) => answer.startsWith("404")) || undefined);
    memory = watchMemory(intake.pid);
    const before = memory.most();
    server.pause();
    const begun = performance.now();
    // Those that were acknowledged send again, too.
    const sending = allOf([devices.other.send(0, DEVICES), devices.flooded.send(0, 4), devices.other.enrolAndSend(5)]);
    const whileAway = await watchOutage(intake, memory, begun, seconds);
    server.resume();
    await flood.stop();
    await sending;

    const database = await openPostgres(databaseUrl);
    try {
      for (const [task, { sent }] of [[small, devices.other] as const, [large, devices.flooded] as const]) {
        await eventually(async () => (await countedOf(database, task, WINDOW)) === sent.length || undefined);
        if (task === small) await requireCountedOnce(database, keyFile, task, WINDOW, sent);
      }
    } finally {
      await database.close();
    }
    return {
      memory: { before, ...whileAway },
      flood: Object.fromEntries(flood.answers),
      refusedAtTheDoor: { flooded: devices.flooded.atTheDoor(), other: devices.other.atTheDoor() },
    };
  } finally {
    memory?.stop();
    for (const service of processes) await service.kill();
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The queues fill up to their limit, 64 MB of bodies of one task and what Node needs for them, and then the memory is
 * flat. The flooded task is refused at the door, the other never is.
 */
export function requireFlat({ memory, flood, refusedAtTheDoor }: OutageResult): void {
  console.log(JSON.stringify({ memory, flood, refusedAtTheDoor }));
  expect(Math.max(memory.first, memory.second)).toBeLessThan(memory.before + MOST_QUEUED_MB);
  expect(memory.second).toBeLessThan(memory.first + MOST_DRIFT_MB);
  expect(Object.keys(flood).some((answer) => answer.includes(AT_THE_DOOR))).toBe(true);
  expect(refusedAtTheDoor.other).toBe(0);
}

/** The process answers all the time; the most memory that it used. */
async function watchOutage(
  intake: ServiceProcess,
  memory: MemoryWatch,
  begun: number,
  seconds: number,
): Promise<{ first: number; second: number }> {
  const alive = async (): Promise<void> => {
    const { status } = await eventually(() => fetch(`${intake.url}/healthz`).catch(unlessGone));
    expect(status).toBe(200);
  };
  while (performance.now() < begun + 500 * seconds) await allOf([alive(), sleep(500)]);
  const first = memory.most();
  while (performance.now() < begun + 1000 * seconds) await allOf([alive(), sleep(500)]);
  return { first, second: memory.most() };
}

interface MemoryWatch {
  /** In MB, since this was last asked. */
  most(): number;
  stop(): void;
}

function watchMemory(pid: number): MemoryWatch {
  const now = (): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1000;
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, now());
  }, 100);
  return {
    most: () => {
      const found = Math.max(most, now());
      most = 0;
      return Math.round(found);
    },
    stop: () => clearInterval(timer),
  };
}

interface Devices {
  readonly sent: readonly Sent[];
  prepare(devices: number): Promise<void>;
  /** Sends the reports of these devices until they are acknowledged. */
  send(from: number, to: number): Promise<void>;
  enrolAndSend(devices: number): Promise<void>;
  /** How often one was refused before anything was done for it. */
  atTheDoor(): number;
}

/** Devices that send the same bytes, as often as the service asks them to wait, until it has them. */
function startDevices(intake: ServiceProcess, task: KnownTask): Devices {
  const sent: Sent[] = [];
  const random = seededRandomnessForTests("outage");
  let atTheDoor = 0;

  async function make(): Promise<Sent> {
    // A connection that is reused may just have been closed.
    const made = await eventually(() => makeReport(intake, task, WINDOW, random).catch(unlessGone));
    sent.push(made);
    return made;
  }

  async function deliver(next: Sent): Promise<void> {
    const wasAcknowledged = next.acknowledged;
    for (;;) {
      const response = await upload(intake, next.device, next.report).catch(unlessGone);
      const text = await response?.text().catch(unlessGone);
      if (!response || text === undefined) {
        await sleep(1000);
        continue;
      }
      if (response.status !== 503) {
        // What was refused may be stored nevertheless: then it is there already.
        expect(wasAcknowledged ? [200] : [200, 201]).toContain(response.status);
        next.acknowledged = true;
        return;
      }
      if (text.includes(AT_THE_DOOR)) atTheDoor++;
      const wait = Number(response.headers.get("retry-after"));
      expect(wait).toBeGreaterThan(0);
      await sleep(1000 * wait * (1 + Math.random()));
    }
  }

  /** Asks as long as the service wants it to wait. The device that it gets does not report. */
  async function enrolOnce(): Promise<void> {
    for (;;) {
      const request = inGroup(task.manifest.groups?.[0]);
      const response = await askToEnrol(intake, task.name, WINDOW, request).catch(unlessGone);
      if (response && response.status !== 503) return expect(response.status).toBe(201);
      await response?.text().catch(unlessGone);
      await sleep(1000 * Number(response?.headers.get("retry-after") ?? 1));
    }
  }

  return {
    sent,
    prepare: async (devices) => void (await allOf(Array.from({ length: devices }, make))),
    send: async (from, to) => void (await allOf(sent.slice(from, to).map(deliver))),
    enrolAndSend: async (devices) =>
      void (await allOf(
        Array.from({ length: devices }, async () => {
          await enrolOnce();
          await deliver(await make());
        }),
      )),
    atTheDoor: () => atTheDoor,
  };
}
