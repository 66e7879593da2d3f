import { setTimeout as sleep } from "node:timers/promises";
import { seededRandomnessForTests, uniformBelow } from "@lethe/core/randomness";
import { startDeviceLoad } from "./device-load.ts";
import { type DividedService, divideService, makeTask } from "./divided.ts";
import { eventually } from "./eventually.ts";
import {
  countedOf,
  releaseOf,
  requireCountedOnce,
  requireErased,
  requireReleased,
  runningWindow,
  YEAR_TASK,
} from "./recount.ts";
import { closeByHand } from "./service.ts";
import { type ServiceProcess, unlessGone } from "./service-process.ts";

const DATABASES = 2;
const OF_EACH_ROLE = 2;
const LONGEST_LIFE_MS = 500;
const LONGEST_RELEASE_MS = 150;

interface Member {
  readonly role: "intake" | "tally";
  service: ServiceProcess;
}

export interface DatabaseKillsResult {
  readonly killsOfProcesses: number;
  readonly killsOfDatabases: number;
  readonly reports: number;
  readonly acknowledged: number;
  readonly unanswered: number;
  readonly unavailable: number;
}

/**
 * Devices enrol and report while intakes, tallies and the servers of two databases are killed; then tallies and one of
 * the servers are killed while the window is released. Every report that was acknowledged is stored once and counted
 * once, and the release is made from all of them.
 */
export async function surviveDatabaseKills(kills: number, seed: string): Promise<DatabaseKillsResult> {
  const random = seededRandomnessForTests(seed);
  const service = await divideService(DATABASES);
  const tallies = await addMembers(service, "tally");
  const task = await makeTask((tallies[0] as Member).service, YEAR_TASK);
  const intakes = await addMembers(service, "intake");
  const window = runningWindow(YEAR_TASK);
  const load = startDeviceLoad(intakes, task, window, random);
  let killsOfDatabases = 0;
  const members = [...intakes, ...tallies];
  for (let kill = 0; kill < kills; kill++) {
    await sleep(uniformBelow(random, LONGEST_LIFE_MS));
    // Each in turn, then any; every fourth is a database.
    const server = service.servers[uniformBelow(random, DATABASES)];
    if (kill % 4 === 3) {
      await server?.stop("kill");
      await sleep(uniformBelow(random, LONGEST_LIFE_MS));
      await server?.start();
      killsOfDatabases++;
    } else await restart(service, (members[kill] ?? members[uniformBelow(random, members.length)]) as Member);
  }
  await load.stop();
  const { sent } = load;
  await eventually(async () => (await countedOf(service.databases, task, window)) >= sent.length || undefined);
  const sums = await requireCountedOnce(service.databases, service.keyFile, task, window, sent);

  const closer = (tallies[uniformBelow(random, tallies.length)] as Member).service;
  const closed = closeByHand(closer, task.name, window).catch(unlessGone);
  const stopped = service.servers[uniformBelow(random, DATABASES)];
  const killed = tallies.map(async (tally) => {
    await sleep(uniformBelow(random, LONGEST_RELEASE_MS));
    await tally.service.kill();
  });
  await Promise.all([
    closed,
    ...killed,
    sleep(uniformBelow(random, LONGEST_RELEASE_MS)).then(() => stopped?.stop("kill")),
  ]);
  await stopped?.start();
  for (const tally of tallies) tally.service = await service.start("tally");
  for (const { service: each } of tallies) await closeByHand(each, task.name, window);
  const release = await releaseOf((tallies[0] as Member).service, task, window);
  requireReleased(release, task, sums, sent.length);
  await eventually(async () => {
    const open = await Promise.all(
      service.databases.map((database) =>
        database.query(`SELECT 1 FROM windows WHERE number = ${window} AND NOT erased`),
      ),
    );
    return open.flat().length === 0 || undefined;
  });
  await requireErased(service.databases, service.keyFile, task, window);
  const { acknowledged, unanswered, unavailable } = load.counts;
  return {
    ...{ killsOfProcesses: kills - killsOfDatabases + OF_EACH_ROLE, killsOfDatabases: killsOfDatabases + 1 },
    ...{ reports: sent.length, acknowledged, unanswered, unavailable },
  };
}

async function addMembers(service: DividedService, role: Member["role"]): Promise<Member[]> {
  const started = await Promise.all(Array.from({ length: OF_EACH_ROLE }, () => service.start(role)));
  return started.map((each) => ({ role, service: each }));
}

async function restart(service: DividedService, member: Member): Promise<void> {
  await member.service.kill();
  member.service = await service.start(member.role);
}
