import { setTimeout as sleep } from "node:timers/promises";
import { randomnessFrom } from "@lethe/core/randomness";
import { expect } from "vitest";
import { placeOf } from "../dist/storage/place.js";
import { upload } from "./device.ts";
import { divideService, makeTask } from "./divided.ts";
import { eventually } from "./eventually.ts";
import { allCounted, MONTHS_TASK, WINDOW } from "./processes.ts";
import { makeReport, releaseOf, requireCountedOnce, requireErased, requireReleased, type Sent } from "./recount.ts";
import { closeByHand } from "./service.ts";

const [FIRST, SECOND] = [0, 1];
const OF_EACH_ROLE = 2;
/** More than all keys that lie ready in the pools and in the intakes. */
const DEVICES = 240;
const AT_ONCE = 4;
/** As many before the outage show how fast this machine is. */
const BEFORE = 60;
/** A statement that hangs is given up after 60 s. Devices are served long before that. */
const longestSeconds = (before: number): number => 30 + (3 * before * DEVICES) / BEFORE;
const random = randomnessFrom(globalThis.crypto);

/** How the server of a database is away: it hangs with open connections, or it is killed. */
export type Outage = "hangs" | "is killed";

/**
 * One of two databases is away, first while devices report, then for `seconds` while the window is released. Meanwhile
 * devices of the other enrol and report, with keys that tallies make meanwhile; the release waits, and has everything.
 */
export async function surviveDatabaseOutage(
  how: Outage,
  seconds: number,
): Promise<{ readonly before: number; readonly servedIn: number }> {
  const { start, databases, servers, keyFile } = await divideService(2);
  const away = servers[SECOND] as (typeof servers)[0];
  const leave = async (): Promise<void> => (how === "hangs" ? away.pause() : away.stop("kill"));
  const comeBack = async (): Promise<void> => (how === "hangs" ? away.resume() : away.start());
  const startAll = (role: "intake" | "tally") => Promise.all(Array.from({ length: OF_EACH_ROLE }, () => start(role)));
  const tallies = await startAll("tally");
  const [tally, otherTally] = tallies as [(typeof tallies)[0], (typeof tallies)[0]];
  const task = await makeTask(tally, MONTHS_TASK);
  const intakes = await startAll("intake");
  const [intake] = intakes as [(typeof intakes)[0]];
  const sent: Sent[] = [];
  /** Seconds until these devices have enrolled and reported. */
  const reportAll = async (devices: number, places: readonly number[]): Promise<number> => {
    const begun = performance.now();
    let left = devices;
    const work = async (): Promise<void> => {
      while (left > 0) {
        const next = await makeReport(intakes[left-- % OF_EACH_ROLE] as typeof intake, task, WINDOW, random);
        expect(places).toContain(placeOf(next.device.id, databases.length));
        expect((await upload(intake, next.device, next.report)).status).toBe(201);
        sent.push(next);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return (performance.now() - begun) / 1000;
  };
  const before = await reportAll(BEFORE, [FIRST, SECOND]);

  await leave();
  const servedIn = await reportAll(DEVICES, [FIRST]);
  expect(servedIn).toBeLessThan(longestSeconds(before));
  await comeBack();
  sent.push(...(await reportInBoth(intake, task, databases.length)));
  await allCounted(databases, task, sent.length);
  const sums = await requireCountedOnce(databases, keyFile, task, WINDOW, sent);

  await leave();
  expect((await closeByHand(tally, task.name, WINDOW)).status).toBe(503);
  const failed = (): string | undefined => otherTally.logged.findLast((line) => line.includes("tally failed"));
  await eventually(async () => failed());
  await sleep(1000 * seconds);
  for (const { url } of [...tallies, ...intakes]) {
    expect((await fetch(`${url}/v1/tasks/${task.name}/releases/${WINDOW}`)).status).toBe(503);
  }
  await comeBack();
  requireReleased(await releaseOf(tally, task, WINDOW), task, sums, sent.length);
  await eventually(async () => {
    const open = databases.map((each) => each.query(`SELECT 1 FROM windows WHERE number = ${WINDOW} AND NOT erased`));
    return (await Promise.all(open)).flat().length === 0 || undefined;
  });
  await requireErased(databases, keyFile, task, WINDOW);
  return { before, servedIn };
}

/** Devices enrol and report until each database has taken one: what is back is used again. */
async function reportInBoth(
  intake: Awaited<ReturnType<Awaited<ReturnType<typeof divideService>>["start"]>>,
  task: Parameters<typeof makeReport>[1],
  databases: number,
): Promise<Sent[]> {
  const sent: Sent[] = [];
  await eventually(async () => {
    const next = await makeReport(intake, task, WINDOW, random);
    await eventually(async () => ((await upload(intake, next.device, next.report)).status < 300 ? true : undefined));
    sent.push(next);
    return new Set(sent.map(({ device }) => placeOf(device.id, databases))).size === databases || undefined;
  });
  return sent;
}
