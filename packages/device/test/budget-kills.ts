import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Task } from "@lethe/core/message";
import { answerCostOf, type Budget, budgetFor, sumOfCosts } from "@lethe/core/plan";
import { expect } from "vitest";
import { askToEnrol } from "../../server/test/device.ts";
import { eventually } from "../../server/test/eventually.ts";
import { createTask, startTestService } from "../../server/test/service.ts";
import { DAILY, DAY } from "./budgeted.ts";
import { startFaultProxy } from "./fault-proxy.ts";
import { temporaryFolder } from "./file-store-folder.ts";
import { type StoreProcess, startStoreProcess } from "./file-store-process.ts";

export const BUDGET: Budget = { epsilon: 5, days: 10 };
/** Randomized responses, a Gaussian mean, and both. */
const TASKS: readonly Task[] = [
  { ...DAILY, task: "answers", metrics: [{ name: "happened", statistic: "occurrence", localEpsilon: 0.8 }] },
  { ...DAILY, task: "mean", metrics: [{ name: "times", statistic: "mean", limit: 3, sigma: 5 }] },
  {
    ...DAILY,
    task: "both",
    // Stricter than the application's.
    budget: { epsilon: 4, days: 5 },
    metrics: [
      { name: "happened", statistic: "occurrence", localEpsilon: 0.5 },
      { name: "times", statistic: "mean", limit: 3, sigma: 8 },
    ],
  },
];
/** Which tasks each of the processes opens: some write, others wait for their end. */
const PROCESSES: readonly (readonly string[])[] = [["answers", "both"], ["mean"], ["mean", "answers", "both"]];

/**
 * A program with some of the tasks, whose clock is a file. It sends what it can, over and over, and prints the clock's
 * time after each round.
 */
const program = (server: string, operatorKey: string, tasks: readonly string[], budget?: Budget): string => `
  import { readFileSync, writeSync } from "node:fs";
  import { openLethe } from ${JSON.stringify(new URL("../dist/index.js", import.meta.url).href)};
  let last = 0;
  const clock = () => { last = Number(readFileSync(folder + "/clock", "utf8")) || last; return last; };
  const opened = await Promise.all(${JSON.stringify(tasks)}.map((task) => openLethe({
    server: ${JSON.stringify(server)}, operatorKey: ${JSON.stringify(operatorKey)}, task, clock,
    budget: ${JSON.stringify(budget)},
    store: fileStore(folder + "/" + task, { budget: folder + "/budget" }),
    onProblem: ({ code, message }) => writeSync(1, "problem " + code + " " + message + "\\n"),
  })));
  for (;;) {
    const now = clock();
    for (const lethe of opened) { lethe.record("happened"); await lethe.sendPending(); }
    writeSync(1, "round " + now + "\\n");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }`;

export interface BudgetKillsResult {
  readonly windows: number;
  readonly kills: number;
  readonly jumps: number;
  /** Reports that left a device, by task; and those that left more than once. */
  readonly left: Readonly<Record<string, number>>;
  readonly sentAgain: number;
  /** How often a report was skipped. */
  readonly skipped: number;
  /** The ε that the dearest period of 10 days took. */
  readonly dearest: number;
}

/**
 * Several processes with several tasks and one budget live through daily windows. They are killed at random moments and
 * while they send, and start again; their clock jumps back by weeks and forward by days. Whatever left them in any
 * period of a budget's length is added up.
 */
export async function surviveBudgetKills(
  windows: number,
  kills: number,
  budget: Budget | undefined = BUDGET,
): Promise<BudgetKillsResult> {
  const rate = { perSecond: 1e6, burst: 1e6 };
  const service = await startTestService({ enrolment: { rate }, keysAhead: 6 });
  const folder = temporaryFolder();
  const skipped = new Set<string>();
  const problems = new Set<string>();
  let killed = 0;
  let jumps = 0;
  let isStriking = false;
  const running = new Map<number, { child: StoreProcess; heard: Promise<void>; round: number }>();

  const proxy = await startFaultProxy({
    service,
    onReport: async () => {
      if (isStriking && Math.random() < 0.3) await strike();
    },
  });
  for (const task of TASKS) await createTask(service, task);
  const setClock = (now: number): void => writeFileSync(join(folder, "clock"), `${now}`);
  setClock(service.clock());

  function start(i: number): void {
    const child = startStoreProcess(
      folder,
      program(proxy.urlOf(`p${i}`), service.operatorKey, PROCESSES[i] ?? [], budget),
    );
    const entry = { child, heard: Promise.resolve(), round: 0 };
    entry.heard = (async () => {
      for (let said = await child.line(); said !== undefined; said = await child.line()) {
        const [what, first = "", ...rest] = said.split(" ");
        if (what === "round") entry.round = Number(first);
        else if (first === "budget-spent") skipped.add(rest.join(" "));
        else problems.add(first);
      }
    })();
    running.set(i, entry);
  }

  /** One of the processes, at once. */
  async function strike(): Promise<void> {
    const i = Math.floor(Math.random() * PROCESSES.length);
    const entry = running.get(i);
    if (!entry || killed >= kills) return;
    killed++;
    running.delete(i);
    await entry.child.kill();
    await entry.heard;
    start(i);
  }

  /** Until every process that lives has made a round at this time. */
  async function round(now: number): Promise<void> {
    setClock(now);
    while ([...running.values()].some((entry) => entry.round !== now) || running.size < PROCESSES.length) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  for (const i of PROCESSES.keys()) start(i);
  const first = service.clock();
  for (let day = 0; day < windows; day++) {
    isStriking = Math.random() < (2 * kills) / windows;
    if (isStriking) void sleepRandomly(200).then(strike);
    // The service issues keys by the clock on the wall.
    for (const { task } of TASKS) {
      const window = Math.floor(service.clock() / 1000 / DAY);
      await eventually(async () => ((await askToEnrol(service, task, window)).ok ? true : undefined));
    }
    // After a failure a device waits by its clock.
    for (let i = 0; i < 4; i++) {
      service.clock.advance(2);
      await round(service.clock());
    }
    if (day % 7 === 3) {
      jumps++;
      await round(service.clock() + (jumps % 2 === 0 ? -21 : 3) * 1000 * DAY);
    }
    service.clock.advance(DAY - ((service.clock() / 1000) % DAY));
    await round(service.clock());
  }
  isStriking = false;
  for (const { child, heard } of [...running.values()]) {
    await child.kill();
    await heard;
  }

  const reports = proxy.requests.filter(({ asked }) => asked === "report").map(({ path }) => path);
  const distinct = [...new Set(reports)].map((path) => {
    const [, , , name = "", , window] = path.split("/");
    const task = TASKS.find((known) => known.task === name);
    return { name, ends: (Number(window) + 1) * DAY, cost: answerCostOf(task?.metrics ?? []) };
  });
  const costOf = (days: number): number =>
    Math.max(
      ...distinct.map(({ ends: begins }) => {
        const within = distinct.filter(({ ends }) => ends >= begins && ends < begins + days * DAY);
        return budgetFor(sumOfCosts(within.map(({ cost }) => cost)));
      }),
    );
  const dearest = costOf(BUDGET.days);
  const expected = ["no-keys-left", "unreachable", "window-not-open", "window-closed", "bad-store", "events-dropped"];
  expect([...problems].filter((code) => ![...expected, "unknown-metric"].includes(code))).toEqual([]);
  await proxy.close();
  await service.remove();
  const left = Object.fromEntries(TASKS.map(({ task }) => [task, distinct.filter(({ name }) => name === task).length]));
  expect(distinct.every(({ ends }) => ends * 1000 > first)).toBe(true);
  return {
    ...{ windows, kills: killed, jumps, left, dearest },
    sentAgain: reports.length - distinct.length,
    skipped: skipped.size,
  };
}

const sleepRandomly = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.random() * milliseconds));
