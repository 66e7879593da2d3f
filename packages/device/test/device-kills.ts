import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { encodeBase64url, type Task } from "@lethe/core/message";
import { expect } from "vitest";
import { eventually } from "../../server/test/eventually.ts";
import { asAdmin, EXACT_TASK, startTestService } from "../../server/test/service.ts";
import { type DeviceRecord, decodeRecord } from "../dist/record-codec.js";
import { startFaultProxy } from "./fault-proxy.ts";
import { temporaryFolder } from "./file-store-folder.ts";
import { type StoreProcess, startStoreProcess } from "./file-store-process.ts";

/** By the clock on the wall: ticks of a second, windows of two. */
const TASK: Task = { ...EXACT_TASK, task: "killed", tickSeconds: 1, ticks: 2, graceSeconds: 60, minimumDevices: 1 };
const LONGEST_LIFE_MS = 2500;

const urlOf = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);

/**
 * A program that counts. In two of three windows it records an event, at some time when it is sure which window counts;
 * it says in which, says when the event is in a record that the store has, and prints every problem. It prints each line
 * before it goes on.
 */
const COUNT_FOREVER = (server: string, operatorKey: string): string => `
  import { writeSync } from "node:fs";
  import { openLethe } from ${urlOf("../dist/index.js")};
  import { decodeRecord } from ${urlOf("../dist/record-codec.js")};
  const operatorKey = ${JSON.stringify(operatorKey)};
  const say = (...words) => writeSync(1, words.join(" ") + "\\n");
  const inner = fileStore(folder);
  const seen = (bytes) => bytes && decodeRecord(bytes, operatorKey).windows;
  const same = (a, b) => Buffer.from(a).equals(Buffer.from(b));
  let windows = [];
  const recorded = new Map();
  const stored = new Set();
  const store = {
    ...inner,
    load: async () => {
      const bytes = await inner.load();
      try { windows = seen(bytes) ?? []; } catch {}
      return bytes;
    },
    save: (bytes, how) => {
      windows = seen(bytes);
      if (how.durable) say("sealing");
      const saved = inner.save(bytes, how);
      return saved.then(() => {
        for (const { window, device, state, report } of seen(bytes)) {
          if (!stored.has(window)) say("stored", window, Buffer.from(device).toString("base64url"));
          stored.add(window);
          const before = recorded.get(window);
          if (before && (report.length > 0 || !same(state, before))) {
            recorded.delete(window);
            say("written", window);
          }
        }
      });
    },
  };
  const lethe = await openLethe({
    server: ${JSON.stringify(server)}, task: ${JSON.stringify(TASK.task)}, operatorKey, store,
    onProblem: ({ code, message, cause }) => say("problem", code, message, cause?.message ?? ""),
  });
  say("open");
  setInterval(() => {
    const now = Math.floor(Date.now() / ${1000 * TASK.tickSeconds * TASK.ticks});
    const counting = windows.find(({ report }) => report.length === 0);
    if (now % 3 === 0 || counting?.window !== now || lethe.inspect().memory.length === 0 || Math.random() < 0.8) return;
    if (recorded.has(now)) return;
    lethe.record("happened");
    recorded.set(now, counting.state);
    say("recorded", now);
  }, 20);`;

export interface DeviceKillsResult {
  readonly kills: number;
  /** At which moments they came. */
  readonly at: Readonly<Record<string, number>>;
  /** Kills that left an unfinished file. */
  readonly whileWriting: number;
  /** Enrolments that the device stored. */
  readonly enrolments: number;
  /** Those of which the device never knew, since it was killed before it could store the answer. */
  readonly unknown: number;
  readonly sentAgain: number;
  readonly givenUp: number;
  /** Windows with an event, and those in which it was certainly written, so that it must be counted. */
  readonly recorded: number;
  readonly written: number;
  /** Of these, those that had to outlive a kill before they were reported. */
  readonly outlived: number;
}

type Moment = "any" | "sealing" | "sending" | "sent";
const MOMENTS: readonly Moment[] = ["any", "any", "sealing", "sending", "sent"];

/**
 * A program that counts is killed at random moments, and while it seals, sends, and waits for the answer; each time it
 * starts again on the same folder. Its state can be used every time; it never sends two different reports for one
 * enrolment; every enrolment that it stored is reported once; and what was written before a kill is in the release.
 */
export async function surviveDeviceKills(kills: number): Promise<DeviceKillsResult> {
  let offset = 0;
  const service = await startTestService({ clock: () => Date.now() + offset });
  const folder = temporaryFolder();
  let moment: Moment = "any";
  let strike: () => void = () => undefined;
  const proxy = await startFaultProxy({
    service,
    onReport: async (when) => {
      if (moment !== (when === "asked" ? "sending" : "sent")) return;
      strike();
      // Until it is dead, so that the answer certainly comes too late; or, if asked only, goes on without it.
      await sleep(50);
    },
  });
  expect((await asAdmin(service, "/v1/tasks", TASK)).status).toBe(201);
  const program = COUNT_FOREVER(proxy.urlOf("d"), service.operatorKey);
  const recordNow = (): DeviceRecord | undefined =>
    readdirSync(folder).includes("record")
      ? decodeRecord(new Uint8Array(readFileSync(join(folder, "record"))), service.operatorKey)
      : undefined;

  const [recorded, written, problems] = [new Set<number>(), new Set<number>(), new Set<string>()];
  /** Windows whose event was written before a kill, and not yet reported. */
  const outlived = new Set<number>();
  /** Windows that the device reported as given up: too many others waited, since it was always killed while sending. */
  const givenUp = new Set<number>();
  /** Enrolments by device id, and their windows. */
  const known = new Map<string, number>();
  const at: Record<string, number> = { any: 0, sealing: 0, sending: 0, sent: 0 };
  let whileWriting = 0;

  async function listen({ line }: StoreProcess): Promise<void> {
    for (let said = await line(); said !== undefined; said = await line()) {
      const [what, window = "", ...rest] = said.split(" ");
      if (what === "recorded") recorded.add(Number(window));
      else if (what === "stored") known.set(rest.join(), Number(window));
      else if (what === "written") written.add(Number(window));
      else if (what === "problem" && said.includes("was never taken"))
        givenUp.add(Number(/window (\d+)/.exec(said)?.[1]));
      else if (what === "problem") problems.add(`${window}: ${rest.join(" ")}`);
      else if (what === "sealing" && moment === "sealing") setTimeout(strike, Math.random() * 4);
    }
  }

  for (let kill = 0; kill < kills; kill++) {
    const planned = MOMENTS[Math.floor(Math.random() * MOMENTS.length)] as Moment;
    const child = startStoreProcess(folder, program);
    const heard = listen(child);
    const struck = new Promise<Moment>((resolve) => {
      strike = () => {
        child.child.kill("SIGKILL");
        resolve(planned);
      };
    });
    moment = planned;
    // From its start on: some die before they are open.
    const life = planned === "any" ? Math.random() * LONGEST_LIFE_MS : 2 * LONGEST_LIFE_MS;
    const timer = new AbortController();
    const moments = [struck, sleep(life, "any" as const, { signal: timer.signal }).catch(() => planned)];
    const came = await Promise.race(moments);
    timer.abort();
    await child.kill();
    await heard;
    at[came] = (at[came] ?? 0) + 1;
    moment = "any";
    if (readdirSync(folder).includes("record.new")) whileWriting++;
    for (const { device, window } of recordNow()?.windows ?? []) {
      known.set(encodeBase64url(device), window);
      if (written.has(window)) outlived.add(window);
    }
  }

  // The last one lives until everything that is over is sent.
  const last = startStoreProcess(folder, program);
  const heard = listen(last);
  const isSent = (id: string): boolean =>
    proxy.requests.some(({ asked, path, delivered }) => asked === "report" && delivered && path.endsWith(id));
  await eventually(async () => {
    const pending = recordNow()?.windows.filter(({ report }) => report.length > 0) ?? [];
    const over = Math.floor(Date.now() / 1000 / TASK.tickSeconds / TASK.ticks);
    const waiting = [...known]
      .filter(([, window]) => window < over)
      .some(([id, window]) => !isSent(id) && !givenUp.has(window));
    return pending.length > 0 || waiting ? undefined : true;
  });
  await last.kill();
  await heard;
  const end = recordNow();
  for (const { device, window } of end?.windows ?? []) known.set(encodeBase64url(device), window);

  const reports = proxy.requests.filter(({ asked }) => asked === "report");
  const sent = new Map<string, Uint8Array>();
  for (const { path, body } of reports) {
    const before = sent.get(path);
    if (before) expect(body).toEqual(before);
    sent.set(path, body);
  }
  const acknowledged = new Set(reports.flatMap(({ status, path }) => (status && status < 300 ? [path] : [])));
  // What is kept still runs, or is just over; everything else was sent, once.
  const kept = new Set(end?.windows.map(({ device }) => encodeBase64url(device)));
  const pathOf = (id: string, window: number): string => `/v1/tasks/${TASK.task}/windows/${window}/reports/${id}`;
  for (const [id, window] of known) {
    if (!kept.has(id) && !givenUp.has(window)) expect(acknowledged).toContain(pathOf(id, window));
  }
  // Never two enrolments of one window in the record: it has a report of each window at most.
  expect(new Set(known.values()).size).toBe(known.size);
  // Asked a moment before a window ended, the service answers a moment after: then it enrols in the next.
  const expected =
    /^(no-keys-left|unreachable|window-not-open|window-closed: http\S+ answered 410: window \d+ is over)/;
  expect([...problems].filter((problem) => !expected.test(problem))).toEqual([]);

  offset = 1000 * (TASK.graceSeconds + 10);
  const enrolments = proxy.requests.filter(({ asked, status }) => asked === "enrolment" && status === 201).length;
  for (const path of acknowledged) {
    const window = Number(path.split("/")[5]);
    const release = await eventually(async () => {
      const response = await fetch(`${service.url}/v1/tasks/${TASK.task}/releases/${window}`);
      return response.status === 200
        ? ((await response.json()) as { received: number; metrics: { estimate: number }[] })
        : undefined;
    });
    // Plus nothing: -0 is 0 as well.
    const estimate = Math.round(release.metrics[0]?.estimate ?? Number.NaN) + 0;
    expect({ window, received: release.received }).toEqual({ window, received: 1 });
    if (written.has(window)) expect({ window, estimate }).toEqual({ window, estimate: 1 });
    else if (!recorded.has(window)) expect({ window, estimate }).toEqual({ window, estimate: 0 });
  }
  await proxy.close();
  await service.remove();
  return {
    kills,
    at,
    whileWriting,
    enrolments: known.size,
    unknown: enrolments - known.size,
    sentAgain: reports.length - sent.size,
    givenUp: givenUp.size,
    recorded: recorded.size,
    written: written.size,
    outlived: outlived.size,
  };
}
