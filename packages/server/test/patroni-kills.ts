import { setTimeout as sleep } from "node:timers/promises";
import { type Randomness, seededRandomnessForTests, uniformBelow } from "@lethe/core/randomness";
import { expect } from "vitest";
import { openPostgres } from "../dist/storage/postgres.js";
import {
  addMembers,
  type Cluster,
  type Counted,
  clusterOn,
  type Member,
  makeTask,
  releaseWhileTalliesAreKilled,
  removeCluster,
  requireService,
  restart,
  settingsOf,
  smallWindow,
} from "./cluster.ts";
import { type DeviceLoad, startDeviceLoad } from "./device-load.ts";
import { eventually } from "./eventually.ts";
import { type PatroniCluster, startPatroni } from "./patroni.ts";
import { runningWindow, YEAR_TASK } from "./recount.ts";
import { type ServiceProcess, startServiceProcess } from "./service-process.ts";

/** What is killed. Every kind comes before any comes again. */
const KINDS = ["primary", "intake", "tally", "etcd", "standby", "standby, then primary", "frozen primary"] as const;
type Kind = (typeof KINDS)[number];

const OF_EACH_ROLE = 2;
/** Few enough that the reports of an hour can be recounted. */
const PAUSE_MS = 250;
/** Shorter than Patroni's `ttl` of 15 s, so that a primary comes back as such; and longer, so that another takes over. */
const [SHORT_SECONDS, LONG_SECONDS] = [3, 20];
const FROZEN_SECONDS = 30;
const LONGEST_BETWEEN_MS = 4000;

/** A kill, and what clients noticed of it. */
interface Kill {
  readonly kind: Kind;
  readonly node: string;
  /** After how long the node was started again; a process of the service at once. */
  readonly downSeconds: number;
  /** The longest time without an acknowledgement until everybody was ready again. */
  readonly outageSeconds: number;
}

export interface NodeKillsResult {
  readonly kills: readonly Kill[];
  readonly releases: number;
  readonly reports: number;
  readonly acknowledged: number;
  readonly unanswered: number;
  readonly unavailable: number;
  readonly resends: number;
}

/**
 * Devices enrol and report while nodes of the database, of etcd and of the service are killed, or hang, one after another,
 * and nobody repairs anything. Then windows are released while all tallies and the primary are killed. Every report that was
 * acknowledged is stored once and counted once, and the releases are made from them.
 */
export async function surviveNodeKills(kills: number, releases: number, seed: string): Promise<NodeKillsResult> {
  const random = seededRandomnessForTests(seed);
  const patroni = await startPatroni();
  const cluster = clusterOn(patroni, (keyFile) => (role) => startPatiently(patroni, role, keyFile));
  try {
    const [tally] = (await addMembers(cluster, "tally", OF_EACH_ROLE)) as [Member];
    const task = await makeTask(tally, YEAR_TASK.task);
    const intakes = await addMembers(cluster, "intake", OF_EACH_ROLE);
    const window = runningWindow(YEAR_TASK);
    const load = startDeviceLoad(intakes, task, window, random, { pauseMs: PAUSE_MS });
    const killed = await killWhileDevicesReport(cluster, patroni, load, kills, random);
    await load.stop();
    await releaseWhileKilled(cluster, patroni, { task, sent: load.sent }, releases, random);
    for (const { service } of cluster.members) expect(await service.end()).toBe(0);
    return { kills: killed, releases, reports: load.sent.length, ...load.counts };
  } finally {
    await removeCluster(cluster);
  }
}

let started = 0;

/**
 * As a supervisor does: a process that cannot reach the database at its start ends, and is started again. Every second one
 * reaches it through HAProxy, if that is installed.
 */
function startPatiently(patroni: PatroniCluster, role: Member["role"], keyFile: string): Promise<ServiceProcess> {
  const url = (started++ % 2 === 1 ? patroni.proxyUrl : undefined) ?? patroni.url;
  const settings = { ...settingsOf(role, { ...patroni, url }, keyFile), requireStandby: true };
  return eventually(async () => startServiceProcess(settings).catch(() => undefined));
}

async function killWhileDevicesReport(
  cluster: Cluster,
  patroni: PatroniCluster,
  load: DeviceLoad,
  kills: number,
  random: Randomness,
): Promise<Kill[]> {
  const killed: Kill[] = [];
  for (let i = 0; nodesKilled(killed) < kills; i++) {
    const kind = KINDS[i] ?? (KINDS[uniformBelow(random, KINDS.length)] as Kind);
    // The first one is a primary, and another takes over. Later ones of the first round do not take long.
    const isLong = KINDS[i] === undefined ? uniformBelow(random, 2) === 0 : kind === "primary";
    const kill =
      kind === "intake" || kind === "tally"
        ? await killProcess(cluster, kind, random)
        : await killNode(patroni, kind, isLong ? LONG_SECONDS : SHORT_SECONDS, random);
    await requireService(cluster, load);
    killed.push({ ...kill, outageSeconds: load.longestSilence() / 1000 });
  }
  return killed;
}

/** How many nodes and processes were killed; one that was frozen was not. */
export function nodesKilled(kills: readonly Kill[]): number {
  const of = (kind: Kind): number => kills.filter((kill) => kill.kind === kind).length;
  return kills.length + of("standby, then primary") - of("frozen primary");
}

type Killed = Omit<Kill, "outageSeconds">;

async function killProcess(cluster: Cluster, kind: Member["role"], random: Randomness): Promise<Killed> {
  const members = cluster.members.filter(({ role }) => role === kind);
  const place = uniformBelow(random, members.length);
  const member = members[place] as Member;
  await member.service.kill();
  await restart(cluster, member);
  return { kind, node: `${kind}${place + 1}`, downSeconds: 0 };
}

/** Everything is well before: of three nodes, two that are down may be too many for long. */
async function killNode(
  patroni: PatroniCluster,
  kind: Exclude<Kind, Member["role"]>,
  downSeconds: number,
  random: Randomness,
): Promise<Killed> {
  await patroni.untilWell();
  if (kind === "frozen primary") {
    return { kind, node: await patroni.freezePrimary(FROZEN_SECONDS), downSeconds: FROZEN_SECONDS };
  }
  if (kind !== "standby, then primary") return { kind, node: await patroni.kill(kind, downSeconds), downSeconds };
  const standby = await patroni.kill("standby", downSeconds);
  // While Patroni chooses another synchronous standby.
  await sleep(uniformBelow(random, LONGEST_BETWEEN_MS));
  return { kind, node: `${standby}, ${await patroni.kill("primary", downSeconds)}`, downSeconds };
}

/** First the window that all the devices reported for, then small ones. */
async function releaseWhileKilled(
  cluster: Cluster,
  patroni: PatroniCluster,
  first: Counted,
  releases: number,
  random: Randomness,
): Promise<void> {
  const database = await openPostgres(patroni.url);
  try {
    for (let i = 0; i < releases; i++) {
      const counted = i === 0 ? first : await smallWindow(cluster, `${YEAR_TASK.task}-${i}`, random);
      const killPrimary = async (): Promise<void> => {
        await patroni.kill("primary", SHORT_SECONDS);
        await patroni.untilWell();
      };
      await releaseWhileTalliesAreKilled(cluster, database, counted, random, killPrimary);
    }
  } finally {
    await database.close();
  }
}

/** The kills as a table, one row per kind, and the longest outage. */
export function describeKills({ kills }: NodeKillsResult): string {
  const rows = KINDS.flatMap((kind) => {
    const outages = kills.filter((kill) => kill.kind === kind).map(({ outageSeconds }) => outageSeconds);
    if (outages.length === 0) return [];
    const sorted = outages.sort((a, b) => a - b);
    const [median, longest] = [sorted[Math.floor(sorted.length / 2)] ?? 0, sorted.at(-1) ?? 0];
    return `| ${kind} | ${outages.length} | ${median.toFixed(1)} s | ${longest.toFixed(1)} s |`;
  });
  return ["| killed | times | outage, median | outage, longest |", "|---|---|---|---|", ...rows].join("\n");
}
