import type { LetheError } from "@lethe/core/error";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTask, startTestService, type TestService } from "../../../server/test/service.ts";
import { decodeLedger } from "../../dist/budget/ledger.js";
import { type Lethe, memoryStore, openLethe, type Store } from "../../dist/index.js";
import { DAILY, DAY } from "../../test/budgeted.ts";
import { createPace } from "../../test/paced.ts";

/**
 * A device with a budget for one report of two, stopped at every step of everything that it waits for, the charge
 * included; then another one goes on from what it stored.
 */

let service: TestService;
beforeAll(async () => {
  const rate = { perSecond: 1e6, burst: 1e6 };
  service = await startTestService({ enrolment: { rate }, keysAhead: 400 });
  await createTask(service, DAILY);
  const first = service.clock() / 1000 / DAY;
  for (const window of [first, first + 1]) {
    const path = `${service.url}/v1/tasks/${DAILY.task}/windows/${window}/devices`;
    while ((await fetch(path, { method: "POST" })).status !== 201) await sleep(50);
  }
});
afterAll(() => service.remove());

const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

type OnStep = (step: number, what: string) => Promise<void> | void;

/** A device with its own clock, whose reports are noted as they begin to leave. */
interface Run {
  now: number;
  readonly left: string[];
  readonly problems: LetheError[];
  readonly store: Store;
}

const createRun = (): Run => ({ now: service.clock(), left: [], problems: [], store: memoryStore() });

async function open(run: Run, onStep: OnStep): Promise<Lethe> {
  const pace = createPace();
  pace.onStep = onStep;
  const watched: typeof fetch = (input, init) => {
    if (init?.method === "PUT") run.left.push(new URL(String(input)).pathname);
    return fetch(input, init);
  };
  return openLethe({
    server: service.url,
    task: DAILY.task,
    operatorKey: service.operatorKey,
    budget: { epsilon: 1, days: 30 },
    store: pace.store(run.store),
    fetch: pace.fetch(watched),
    clock: () => run.now,
    onProblem: (problem) => void run.problems.push(problem),
  });
}

/** From wherever it is, through both windows. */
async function live(run: Run, lethe: Lethe): Promise<void> {
  for (const end of [service.clock() + 1000 * DAY, service.clock() + 2000 * DAY]) {
    for (let i = 0; i < 500 && run.now < end && lethe.inspect().memory.length === 0; i++) {
      await lethe.sendPending();
      run.now += 1000;
    }
    run.now = Math.max(run.now, end);
    await lethe.sendPending();
  }
}

async function paidBy({ store }: Run): Promise<number> {
  let paid = 0;
  await store.budget?.((stored) => {
    paid = stored ? decodeLedger(stored, 0).paid.length : 0;
    return undefined;
  }, new AbortController().signal);
  return paid;
}

it("without a crash one report leaves, and the other one is skipped", async () => {
  const run = createRun();
  const lethe = await open(run, () => {});
  await live(run, lethe);
  await lethe.close();
  expect(new Set(run.left).size).toBe(1);
  expect(await paidBy(run)).toBe(1);
  expect(run.problems.map(({ code }) => code)).toContain("budget-spent");
});

it("a crash at any await never lets a second report leave, nor loses one", async () => {
  const never = new Promise<void>(() => {});
  const outcomes: Record<string, number> = {};
  const wrong: unknown[] = [];
  for (let at = 0, isReached = true; isReached; at++) {
    const run = createRun();
    let crashedAt: string | undefined;
    let crash = (): void => {};
    const crashed = new Promise<void>((resolve) => {
      crash = resolve;
    });
    // From this step on, nothing that the device waits for comes back.
    const first = open(run, (step, what) => {
      if (step < at) return undefined;
      crashedAt ??= what;
      crash();
      return never;
    }).then(async (lethe) => {
      await live(run, lethe);
      await lethe.close();
    });
    await Promise.race([first, crashed]);
    isReached = crashedAt !== undefined;
    const next = await open(run, () => {});
    await live(run, next);
    await next.close();
    const reports = new Set(run.left).size;
    const paid = await paidBy(run);
    const key = `${crashedAt}: ${reports} left, ${paid} paid`;
    outcomes[key] = (outcomes[key] ?? 0) + 1;
    if (reports !== 1 || paid !== 1) wrong.push({ at, crashedAt, reports, paid });
  }
  console.log(JSON.stringify(outcomes));
  expect(wrong).toEqual([]);
  const steps = Object.keys(outcomes).map((key) => key.split(":")[0]);
  expect(steps).toEqual(expect.arrayContaining(["budget begins", "budget ends", "PUT begins", "PUT ends"]));
});

it.each(["budget begins", "budget ends"])(
  "consent that is withdrawn when %s keeps the report here, and what was paid for stays paid for",
  async (when) => {
    const run = createRun();
    let withdrawn: Promise<void> | undefined;
    const lethe: Lethe = await open(run, async (_, what) => {
      if (what === when) withdrawn ??= lethe.setConsent(false);
      await sleep(0);
    });
    await live(run, lethe);
    await withdrawn;
    expect({ left: run.left, kept: await run.store.load(), paid: await paidBy(run) }).toEqual({
      left: [],
      kept: undefined,
      paid: 1,
    });
    await lethe.close();
  },
);
