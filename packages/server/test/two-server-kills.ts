import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Release, Task } from "@lethe/core/message";
import { type Randomness, seededRandomnessForTests, uniformBelow } from "@lethe/core/randomness";
import { decodeTwoServerReport, type ServerRole } from "@lethe/core/two-server";
import { expect } from "vitest";
import { digestOf } from "../dist/between/messages.js";
import { openDataFolder } from "../dist/storage/data-folder.js";
import { eventually } from "./eventually.ts";
import { createDealer, type FaultyLink, startFaultyLink } from "./faulty-link.ts";
import { copyEmptyDatabase, unownedFolder } from "./folder.ts";
import { windowsIn } from "./key-file.ts";
import { runningWindow } from "./recount.ts";
import { ADMIN_TOKEN, closeByHand } from "./service.ts";
import { type ServiceProcess, startServiceProcess, unlessGone } from "./service-process.ts";
import { GROUPS, PLAIN, TASKS } from "./two-server-tasks.ts";
import {
  agree,
  collect,
  enrolShared,
  knownManifest,
  makeKeyFiles,
  PEER_SECRET,
  propose,
  type Servers,
  type SharedDevice,
  type SharedTask,
  sendShared,
  sharedReport,
  shareOf,
} from "./two-servers.ts";

const WINDOW = runningWindow(PLAIN);

const DEVICES_AT_ONCE = 3;
const REPORTS_PER_LIFE = 6;
const LONGEST_LIFE_MS = 2000;
const PAUSE_MS = 50;
/** One in this number of reports is altered on its way to one of the servers. */
const INVALID_OF = 8;

export interface FaultsResult {
  readonly kills: Readonly<Record<ServerRole, number>>;
  readonly killsWhileFinishing: number;
  readonly fates: FaultyLink["fates"];
  readonly reports: number;
  readonly invalid: number;
  /** Uploads whose answer a kill took away. */
  readonly unanswered: number;
}

interface Sent {
  readonly device: SharedDevice;
  /** The place of its group. */
  readonly group: number;
  readonly body: Uint8Array;
  readonly events: readonly string[];
  acknowledged: boolean;
}

interface Running extends Servers {
  leader: ServiceProcess;
  helper: ServiceProcess;
}

/**
 * Devices report while leader and helper are killed at random moments, and what they say to each other is lost,
 * repeated, late or out of order; then the window is finished under the same conditions. Both have counted the very
 * reports that were acknowledged, invalid ones as "no event", and together tell the truth.
 */
export async function surviveFaults(
  kills: number,
  seed: string,
  collusion: keyof typeof TASKS = "none",
): Promise<FaultsResult> {
  const random = seededRandomnessForTests(seed);
  const folder = unownedFolder();
  const files = makeKeyFiles(folder);
  const dataOf = (role: ServerRole): string => join(folder, role);
  for (const role of ["leader", "helper"] as const) await copyEmptyDatabase(dataOf(role));
  const link = await startFaultyLink(() => running.helper.url, random);
  const start = (role: ServerRole): Promise<ServiceProcess> => {
    const other = role === "leader" ? files.helper.key : files.leader.key;
    const peer = { secret: PEER_SECRET, operatorKey: other, ...(role === "leader" && { url: link.url }) };
    const common = { adminToken: ADMIN_TOKEN, host: "127.0.0.1", port: 0, threads: 1, keysAhead: 20, leaseSeconds: 1 };
    return startServiceProcess({ ...common, role, data: dataOf(role), keyFile: files[role].path, peer });
  };
  const running: Running = {
    helper: await start("helper"),
    leader: await start("leader"),
    keys: { leader: files.leader.key, helper: files.helper.key },
  };
  const killed = { leader: 0, helper: 0 };
  const kill = async (role: ServerRole): Promise<void> => {
    killed[role]++;
    await running[role].kill();
    running[role] = await start(role);
  };

  const victim = createDealer<ServerRole>(["leader", "helper"], random);
  const task = await makeStubbornly(running, TASKS[collusion]);
  const devices = startDevices(running, task, random);
  const killsWhileFinishing = Math.ceil(kills / 5);
  for (let i = 0; i < kills - killsWhileFinishing; i++) {
    devices.allow(REPORTS_PER_LIFE);
    await devices.acknowledged(uniformBelow(random, REPORTS_PER_LIFE));
    await sleep(uniformBelow(random, 100));
    await kill(victim());
  }
  await devices.stop();
  const { sent } = devices;
  for (const each of sent) {
    const { status } = await sendShared(running, PLAIN.task, WINDOW, each.device, each.body);
    expect(each.acknowledged ? [200] : [200, 201]).toContain(status);
  }

  await closeByHand(running.leader, PLAIN.task, WINDOW);
  for (let i = 0; i < killsWhileFinishing; i++) {
    await sleep(uniformBelow(random, 200));
    await kill(victim());
  }
  await requireTruth(running, task, sent);
  for (const role of ["leader", "helper"] as const) {
    expect(await eventually(async () => isErased(files[role].path) || undefined)).toBe(true);
    expect(await running[role].end()).toBe(0);
    await requireNothingLeft(dataOf(role));
  }
  await link.close();
  rmSync(folder, { recursive: true, force: true });
  return {
    kills: killed,
    killsWhileFinishing,
    fates: link.fates,
    reports: sent.length,
    invalid: sent.filter(({ events }) => events.includes("altered")).length,
    unanswered: devices.unanswered(),
  };
}

/** Both operators want it, whatever becomes of the proposal on its way. */
async function makeStubbornly(servers: Servers, task: Task): Promise<SharedTask> {
  expect((await agree(servers, task)).status).toBe(200);
  return eventually(async () => {
    const made = await propose(servers, task);
    const text = await made.text();
    expect([200, 201, 503]).toContain(made.status);
    return made.status === 503 ? undefined : knownManifest(text);
  });
}

/** Devices that enrol, report, and send again what nobody acknowledged; as many new ones as allowed. */
function startDevices(
  servers: Servers,
  task: SharedTask,
  random: Randomness,
): {
  readonly sent: readonly Sent[];
  allow(reports: number): void;
  /** Waits until this number of further reports was acknowledged, but not for long. */
  acknowledged(reports: number): Promise<void>;
  unanswered(): number;
  stop(): Promise<void>;
} {
  const sent: Sent[] = [];
  let allowed = 0;
  let acknowledged = 0;
  let unanswered = 0;
  let stopping = false;

  async function next(): Promise<Sent | undefined> {
    const open = sent.filter(({ acknowledged }) => !acknowledged);
    if (open.length > 0 && uniformBelow(random, 3) === 0) return open[uniformBelow(random, open.length)];
    if (allowed <= 0) return sent[uniformBelow(random, sent.length + 1)];
    const group = uniformBelow(random, GROUPS.length);
    const device = await enrolShared(servers, task, WINDOW, GROUPS[group]);
    allowed--;
    const events = ["told", "counted"].filter(() => uniformBelow(random, 2) === 1);
    const body = await sharedReport(task, WINDOW, device, events);
    if (uniformBelow(random, INVALID_OF) === 0) {
      // Beyond header, manifest hash and report id: in one of the halves.
      const at = 50 + uniformBelow(random, body.length - 50);
      body[at] = (body[at] as number) ^ (1 << uniformBelow(random, 8));
      events.push("altered");
    }
    const made = { device, group, body, events, acknowledged: false };
    sent.push(made);
    return made;
  }

  async function work(): Promise<void> {
    while (!stopping) {
      try {
        const each = await next();
        if (each) {
          const { status } = await sendShared(servers, PLAIN.task, WINDOW, each.device, each.body).catch((error) => {
            unanswered++;
            throw error;
          });
          expect(each.acknowledged ? [200] : [200, 201]).toContain(status);
          if (!each.acknowledged) acknowledged++;
          each.acknowledged = true;
        }
        await sleep(allowed > 0 ? 0 : PAUSE_MS);
      } catch (error) {
        unlessGone(error);
        await sleep(PAUSE_MS);
      }
    }
  }

  const done = Promise.all(Array.from({ length: DEVICES_AT_ONCE }, work));
  return {
    sent,
    allow: (reports) => {
      allowed += reports;
    },
    acknowledged: async (reports) => {
      const wanted = acknowledged + reports;
      const deadline = performance.now() + LONGEST_LIFE_MS;
      while (acknowledged < wanted && performance.now() < deadline) await sleep(5);
    },
    unanswered: () => unanswered,
    stop: async () => {
      stopping = true;
      await done;
    },
  };
}

async function requireTruth(servers: Servers, task: SharedTask, sent: readonly Sent[]): Promise<void> {
  const digests = sent
    .map(({ device, group, body }) => {
      const groupByte = Uint8Array.of(group);
      const { reportId, helper } = decodeTwoServerReport(task.layout, task.hash, body);
      return {
        device: Buffer.from(device.id),
        digest: digestOf({ device: device.id, groupByte, report: reportId, half: helper }),
      };
    })
    .toSorted((a, b) => Buffer.compare(a.device, b.device));
  const hash = createHash("sha256");
  for (const { digest } of digests) hash.update(digest);
  const reports = new Uint8Array(hash.digest());
  for (const role of ["leader", "helper"] as const) {
    const share = await shareOf(servers[role], servers.keys[role], PLAIN.task, WINDOW);
    expect({ role, received: share.received, reports: share.reports }).toEqual({
      role,
      received: sent.length,
      reports,
    });
  }
  const release = await collect(servers, task, WINDOW);
  const valid = sent.filter(({ events }) => !events.includes("altered"));
  const truthIn = (some: readonly Sent[]): number[] =>
    ["told", "counted"].map((metric) => some.filter(({ events }) => events.includes(metric)).length);
  const figuresIn = (metrics: Release["metrics"]): number[] =>
    metrics.map((metric) => {
      const estimate = "estimate" in metric ? metric.estimate : metric.buckets[1]?.estimate;
      return Math.round(estimate ?? Number.NaN) + 0;
    });
  expect(release.received).toBe(sent.length);
  expect(release.invalid.estimate).toBe(sent.length - valid.length);
  expect(figuresIn(release.metrics)).toEqual(truthIn(valid));
  for (const [i, group] of release.groups?.entries() ?? []) {
    expect(group.received).toBe(sent.filter((report) => report.group === i).length);
    const own = valid.filter((report) => report.group === i);
    if (group.status === "released") expect(figuresIn(group.metrics)).toEqual(truthIn(own));
  }
}

function isErased(keyFile: string): boolean {
  return !windowsIn(keyFile, PLAIN.task).includes(WINDOW);
}

async function requireNothingLeft(data: string): Promise<void> {
  const database = await openDataFolder(data);
  const [window] = await database.query<{ id: number; state: string; erased: boolean }>(
    "SELECT id, state, erased FROM windows WHERE number = $1",
    [WINDOW],
  );
  expect(window).toMatchObject({ state: "released", erased: true });
  for (const table of ["reports", "uncounted", "devices", "shared_reports", "tallies"]) {
    const rows = await database.query(`SELECT 1 FROM ${table} WHERE window_id = $1`, [window?.id ?? 0]);
    expect({ table, rows: rows.length }).toEqual({ table, rows: 0 });
  }
  await database.close();
}
