import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Randomness, seededRandomnessForTests, uniformBelow } from "@lethe/core/randomness";
import { expect } from "vitest";
import { type Database, DatabaseUnavailable } from "../dist/storage/database.js";
import { openPostgres } from "../dist/storage/postgres.js";
import { fetchTask, type KnownTask, upload } from "./device.ts";
import { type DeviceLoad, startDeviceLoad } from "./device-load.ts";
import { eventually } from "./eventually.ts";
import { unownedFolder } from "./folder.ts";
import {
  countedOf,
  makeReport,
  releaseOf,
  requireCountedOnce,
  requireErased,
  requireReleased,
  runningWindow,
  type Sent,
  YEAR_TASK,
} from "./recount.ts";
import { type ReplicatedPostgres, startReplicatedPostgres } from "./replicated-postgres.ts";
import { ADMIN_TOKEN, closeByHand, createTask } from "./service.ts";
import { type ServiceProcess, startServiceProcess, unlessGone } from "./service-process.ts";

const OF_EACH_ROLE = 3;
const LONGEST_LIFE_MS = 500;
const LONGEST_RELEASE_MS = 150;
/** Windows with few reports, and how many these are. */
const [MOST_SMALL, SMALL] = [10, 5];
const LEASE_SECONDS = 2;

/** A place in the cluster. When its process is killed, another takes the place. */
export interface Member {
  readonly role: "intake" | "tally";
  service: ServiceProcess;
}

/** Processes that share a database and a key file. */
export interface Cluster {
  readonly database: Pick<ReplicatedPostgres, "url" | "remove">;
  readonly folder: string;
  readonly keyFile: string;
  readonly members: Member[];
  /** Starts a process of this role, on that database. */
  readonly start: (role: Member["role"]) => Promise<ServiceProcess>;
}

/** A window of the year's task, or of one like it. */
export interface Counted {
  readonly task: KnownTask;
  readonly sent: readonly Sent[];
}

export interface ClusterKillsResult {
  readonly killsOfIntakes: number;
  readonly killsOfTallies: number;
  /** Kills of tallies while windows were closed, released and erased; */
  readonly killsOfRelease: number;
  /** and of how many windows before that was done. */
  readonly releasesCutOff: number;
  readonly databaseRestarts: number;
  readonly failovers: number;
  readonly reports: number;
  readonly acknowledged: number;
  readonly unanswered: number;
  readonly unavailable: number;
  readonly resends: number;
}

/**
 * Devices enrol and report, many at two intakes at once, while intakes and tallies are killed, the database is restarted, and its
 * standby takes over; then tallies are killed while they release the window. Every report that was acknowledged is stored once and
 * counted once, and the release is made from them. Processes that were not killed go on by themselves.
 */
export async function surviveClusterKills(kills: number, seed: string): Promise<ClusterKillsResult> {
  const random = seededRandomnessForTests(seed);
  const database = await startReplicatedPostgres();
  const cluster = clusterOn(database, (keyFile) => (role) => startServiceProcess(settingsOf(role, database, keyFile)));
  try {
    const [tally] = (await addMembers(cluster, "tally", OF_EACH_ROLE)) as [Member];
    const task = await makeTask(tally, YEAR_TASK.task);
    const intakes = await addMembers(cluster, "intake", OF_EACH_ROLE);
    const load = startDeviceLoad(intakes, task, runningWindow(YEAR_TASK), random);
    const killed = await killWhileDevicesReport(cluster, database, load, kills, random);
    await load.stop();
    const released = await killWhileWindowsAreReleased(cluster, { task, sent: load.sent }, kills, random);
    for (const { service } of cluster.members) expect(await service.end()).toBe(0);
    return { ...killed, ...released, reports: load.sent.length, ...load.counts };
  } finally {
    await removeCluster(cluster);
  }
}

/**
 * First the window that all the devices reported for, then others, so that tallies die at many moments of a release.
 */
async function killWhileWindowsAreReleased(
  cluster: Cluster,
  first: Counted,
  kills: number,
  random: Randomness,
): Promise<Pick<ClusterKillsResult, "killsOfRelease" | "releasesCutOff">> {
  const windows = 1 + Math.min(MOST_SMALL, Math.ceil(kills / 10));
  const database = await openPostgres(cluster.database.url);
  try {
    let releasesCutOff = 0;
    for (let i = 0; i < windows; i++) {
      const counted = i === 0 ? first : await smallWindow(cluster, `${YEAR_TASK.task}-${i}`, random);
      if (await releaseWhileTalliesAreKilled(cluster, database, counted, random)) releasesCutOff++;
    }
    return { killsOfRelease: windows * OF_EACH_ROLE, releasesCutOff };
  } finally {
    await database.close();
  }
}

/** A cluster without processes, with a key file that they will share. */
export function clusterOn(database: Cluster["database"], starter: (keyFile: string) => Cluster["start"]): Cluster {
  const folder = unownedFolder();
  const keyFile = join(folder, "keys");
  return { database, folder, keyFile, members: [], start: starter(keyFile) };
}

/** Starts processes of a role. */
export async function addMembers(cluster: Cluster, role: Member["role"], count: number): Promise<Member[]> {
  const services = await Promise.all(Array.from({ length: count }, () => cluster.start(role)));
  const members = services.map((service) => ({ role, service }));
  cluster.members.push(...members);
  return members;
}

/** What a process of this role is started with. */
export function settingsOf(
  role: Member["role"],
  { url }: Cluster["database"],
  keyFile: string,
): Parameters<typeof startServiceProcess>[0] {
  const keys = { keyFile, adminToken: ADMIN_TOKEN, threads: 1, keysAhead: 40, leaseSeconds: LEASE_SECONDS };
  return { role, databaseUrl: url, host: "127.0.0.1", port: 0, ...(role === "tally" && keys) };
}

/** A task like the year's, under this name. */
export async function makeTask({ service }: Member, name: string): Promise<KnownTask> {
  await createTask(service, { ...YEAR_TASK, task: name });
  return fetchTask(service, name);
}

/** Each member in turn, then any; in between the database fails in every way. */
async function killWhileDevicesReport(
  cluster: Cluster,
  database: ReplicatedPostgres,
  load: DeviceLoad,
  kills: number,
  random: Randomness,
): Promise<Pick<ClusterKillsResult, "killsOfIntakes" | "killsOfTallies" | "databaseRestarts" | "failovers">> {
  const { members } = cluster;
  const failures = [() => database.restart("fast"), () => database.restart("kill"), () => database.failOver()];
  const killed = { intake: 0, tally: 0 };
  for (let kill = 0; kill < kills; kill++) {
    await sleep(uniformBelow(random, LONGEST_LIFE_MS));
    const member = (members[kill] ?? members[uniformBelow(random, members.length)]) as Member;
    await member.service.kill();
    await restart(cluster, member);
    killed[member.role]++;
    // After every quarter of the kills but the last.
    const failure = failures.find((_, i) => kill === Math.floor((kills * (i + 1)) / 4));
    await failure?.();
    if (failure) await requireService(cluster, load);
  }
  return { killsOfIntakes: killed.intake, killsOfTallies: killed.tally, databaseRestarts: 2, failovers: 1 };
}

/** Where somebody was killed. */
export async function restart(cluster: Cluster, member: Member): Promise<void> {
  member.service = await cluster.start(member.role);
}

/** Everybody is ready, and devices are served. */
export async function requireService({ members }: Cluster, { counts }: DeviceLoad): Promise<void> {
  const before = counts.acknowledged;
  for (const { role, service } of members) {
    const isReady = async (): Promise<boolean> => (await fetch(`${service.url}/readyz`)).ok;
    await eventually(async () => (await isReady()) || undefined).catch((cause: unknown) => {
      throw new Error(`the ${role} at ${service.url} does not become ready`, { cause });
    });
  }
  await eventually(async () => counts.acknowledged > before || undefined);
}

/** A new task, and a window of it with a few reports. */
export async function smallWindow({ members }: Cluster, name: string, random: Randomness): Promise<Counted> {
  const [tally, intake] = [members.at(0), members.at(-1)] as [Member, Member];
  const task = await makeTask(tally, name);
  const sent = await Promise.all(
    Array.from({ length: SMALL }, () => makeReport(intake.service, task, runningWindow(YEAR_TASK), random)),
  );
  for (const { device, report } of sent) expect((await upload(intake.service, device, report)).status).toBe(201);
  return { task, sent };
}

/**
 * Kills all tallies, and what `killMore` kills, while they close, release and erase a window; returns whether they had
 * not yet finished.
 */
export async function releaseWhileTalliesAreKilled(
  cluster: Cluster,
  database: Database,
  { task, sent }: Counted,
  random: Randomness,
  killMore: () => Promise<unknown> = async () => undefined,
): Promise<boolean> {
  const window = runningWindow(YEAR_TASK);
  const tallies = cluster.members.filter(({ role }) => role === "tally");
  await eventually(async () => (await countedOf(database, task, window)) >= sent.length || undefined);
  const sums = await requireCountedOnce(database, cluster.keyFile, task, window, sent);

  const closer = (tallies[uniformBelow(random, tallies.length)] as Member).service;
  const closed = closeByHand(closer, task.name, window).catch(unlessGone);
  const killed = tallies.map(({ service }) => sleep(uniformBelow(random, LONGEST_RELEASE_MS)).then(service.kill));
  await Promise.all([closed, ...killed, killMore()]);
  const wasCutOff = !(await eventually(() => isErased(database, task, window).catch(unlessAway)));
  await Promise.all(tallies.map((tally) => restart(cluster, tally)));

  for (const { service } of tallies) expect((await closeByHand(service, task.name, window)).status).toBe(200);
  const release = await releaseOf((tallies[0] as Member).service, task, window);
  requireReleased(release, task, sums, sent.length);
  await eventually(async () => (await isErased(database, task, window)) || undefined);
  await requireErased(database, cluster.keyFile, task, window);
  for (const { service } of cluster.members) expect(await releaseOf(service, task, window)).toEqual(release);
  return wasCutOff;
}

async function isErased(database: Database, task: KnownTask, window: number): Promise<boolean> {
  const [found] = await database.query<{ erased: boolean }>(
    "SELECT erased FROM windows WHERE name = $1 AND number = $2",
    [task.name, window],
  );
  return found?.erased === true;
}

/** A database that fails over does not answer; anything else is a finding. */
function unlessAway(error: unknown): undefined {
  if (!(error instanceof DatabaseUnavailable)) throw error;
}

/** After a failure, too, no process stays behind. */
export async function removeCluster({ database, folder, members }: Cluster): Promise<void> {
  for (const { service } of members) await service.kill().catch(() => undefined);
  await database.remove();
  rmSync(folder, { recursive: true, force: true });
}
