import type { LetheError } from "@lethe/core/error";
import type { Task } from "@lethe/core/message";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../server/test/eventually.ts";
import { createTask, EXACT_TASK, startTestService, type TestService } from "../../server/test/service.ts";
import { makeTask, type Pair, SHARED_TASK, startPair } from "../../server/test/two-servers.ts";
import { type Lethe, type LetheOptions, memoryStore, openLethe, type Store } from "../dist/index.js";
import { startFaultProxy } from "../test/fault-proxy.ts";
import { createPace } from "../test/paced.ts";

/**
 * Consent is withdrawn at every step of everything that a device waits for, from its opening to the acknowledged
 * report: store, network and WebCrypto each stop there until the call was made, and then go on.
 */

const WINDOW_MS = 1000 * EXACT_TASK.ticks * EXACT_TASK.tickSeconds;
const MANY = { perSecond: 1e6, burst: 1e6 };
const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Where a device reports, and the time at which its window begins. */
type Target = Pick<LetheOptions, "server" | "task" | "operatorKey" | "helperKey"> & { readonly start: number };

/** How consent ends; resolves when nothing may be sent any more. */
type Withdrawal = (lethe: Lethe, open: (options: Partial<LetheOptions>) => Promise<Lethe>) => Promise<unknown>;

const OTHER_COUNTS = "by another that shares the store and counts";
const WITHDRAWALS: Readonly<Record<string, Withdrawal>> = {
  "by the application": (lethe) => lethe.setConsent(false),
  "while the program closes": (lethe) => Promise.all([lethe.close(), lethe.setConsent(false)]),
  "just before the program closes": (lethe) => Promise.all([lethe.setConsent(false), lethe.close()]),
  "twice, and given in between": (lethe) =>
    Promise.all([lethe.setConsent(false), lethe.setConsent(true), lethe.setConsent(false)]),
  "by another that shares the store and opens without": async (_lethe, open) =>
    (await open({ consent: false })).close(),
  [OTHER_COUNTS]: async (_lethe, open) => {
    const other = await open({});
    await other.setConsent(false);
    await other.close();
  },
};

interface Asked {
  readonly method: string;
  isSettled: boolean;
}

interface Run {
  readonly target: Target;
  readonly withdraw: Withdrawal;
  /** WebCrypto, too, is done in steps. */
  readonly isCryptoPaced?: boolean;
  /** Consent is given again afterwards. */
  readonly isGivenAgain?: boolean;
}

/** A device from its opening to its report, interrupted at step `at`. */
async function withdrawAt(at: number, { target, withdraw, isCryptoPaced, isGivenAgain }: Run) {
  const { start, ...where } = target;
  const pace = createPace();
  const inner = memoryStore();
  const asked: Asked[] = [];
  const problems: LetheError[] = [];
  let now = start;
  const paced = pace.fetch(fetch);
  const ask: typeof fetch = async (input, init) => {
    const request = { method: init?.method ?? "GET", isSettled: false };
    asked.push(request);
    try {
      return await paced(input, init);
    } finally {
      request.isSettled = true;
    }
  };
  const open = (options: Partial<LetheOptions>, store: Store = inner): Promise<Lethe> => {
    const onProblem = (error: LetheError): void => void problems.push(error);
    return openLethe({ ...where, fetch: ask, clock: () => now, onProblem, store, ...options });
  };

  let reached: string | undefined;
  let before = 0;
  let withdrawn: Promise<unknown> | undefined;
  const steps: string[] = [];
  pace.onStep = async (step, what) => {
    steps.push(what);
    if (step !== at) return;
    reached = what;
    const lethe = await opening;
    before = asked.length;
    withdrawn = withdraw(lethe, open);
    await sleep(2);
  };
  const crypto = isCryptoPaced ? pace.crypto() : undefined;
  const opening = open({}, pace.store(inner));
  try {
    const lethe = await opening;
    for (let i = 0; i < 20 && withdrawn === undefined && lethe.inspect().memory.length === 0; i++) {
      await lethe.sendPending();
      now += 1000;
    }
    lethe.record("happened");
    now = start + WINDOW_MS;
    await lethe.sendPending();
    if (reached === undefined) {
      expect(asked.map(({ method }) => method)).toContain("PUT");
      await lethe.close();
      return { steps };
    }
    await withdrawn;
  } finally {
    crypto?.restore();
  }

  const lethe = await opening;
  // Another that counts may have asked for itself before it withdrew.
  const sent = asked.length;
  const running = asked.filter(({ isSettled }) => !isSettled).length;
  const kept = [(await inner.load())?.length];
  now += 2 * WINDOW_MS;
  lethe.record("happened");
  await lethe.sendPending();
  await sleep(5);
  kept.push((await inner.load())?.length);
  const later = asked.length - sent;
  now = start;
  const isBegunAnew = isGivenAgain ? await begunAnew(lethe, open, asked) : true;
  await lethe.close();
  const codes = problems.map(({ code }) => code);
  return { steps, outcome: { reached, before, sent, running, kept, later, isBegunAnew, codes } };
}

/** Whether consent that is given again leads to an enrolment, and counts. */
async function begunAnew(lethe: Lethe, open: (options: Partial<LetheOptions>) => Promise<Lethe>, asked: Asked[]) {
  const before = asked.length;
  await lethe.close();
  const next = await open({ consent: false });
  await next.setConsent(true);
  for (let i = 0; i < 2000 && next.inspect().memory.length === 0; i++) {
    await next.sendPending();
    await sleep(10);
  }
  const enrolments = asked.slice(before).filter(({ method }) => method === "POST").length;
  const isCounting = next.inspect().memory.length > 0;
  await next.close();
  return isCounting && enrolments > 0;
}

/** Every step from `first` on, until there is no further one; and what they are. */
async function atEveryStep(run: Run, first = 0): Promise<string[]> {
  const reached: string[] = [];
  const failures: unknown[] = [];
  for (let at = first; ; at++) {
    const { outcome } = await withdrawAt(at, run);
    if (!outcome) break;
    reached.push(outcome.reached);
    // Another that counts asks for itself before it withdraws.
    const isQuiet = run.withdraw === WITHDRAWALS[OTHER_COUNTS] || outcome.sent === outcome.before;
    const isOver = isQuiet && outcome.later === 0 && outcome.running === 0;
    const isEmpty = outcome.kept.every((length) => length === undefined);
    if (!isOver || !isEmpty || !outcome.isBegunAnew) failures.push({ at, ...outcome });
  }
  expect(failures).toEqual([]);
  return reached;
}

const STEPS = ["lock", "load", "GET", "the body of GET", "POST", "the body of POST", "save"];
const FROM_SEALING_ON = ["durable save", "PUT", "the body of PUT"];
const beginsAndEnds = (steps: string[]): Set<string> =>
  new Set(steps.flatMap((what) => [`${what} begins`, `${what} ends`]));

describe("with one server, consent withdrawn at every await", () => {
  let service: TestService;
  let target: Target;
  const task: Task = { ...EXACT_TASK, task: "t", minimumDevices: 1 };
  beforeAll(async () => {
    service = await startTestService({ enrolment: { rate: MANY }, keysAhead: 400 });
    await createTask(service, task);
    target = { server: service.url, task: task.task, operatorKey: service.operatorKey, start: service.clock() };
    await keysAreReady(target);
  });
  afterAll(() => service.remove());

  it.each(Object.entries(WITHDRAWALS))("%s", async (name, withdraw) => {
    // A store does not know of anybody who has not asked for its lock yet.
    const first = name.startsWith("by another") ? 1 : 0;
    const steps = await atEveryStep({ target, withdraw, isGivenAgain: name === "by the application" }, first);
    console.log(JSON.stringify({ name, steps: steps.length }));
    expect(new Set(["lock begins", ...steps])).toEqual(beginsAndEnds([...STEPS, ...FROM_SEALING_ON]));
  });

  it("a report that waits for a slow store never leaves", async () => {
    let now = target.start;
    const asked: string[] = [];
    const inner = memoryStore();
    let isStored: (() => void) | undefined;
    const slow: Store = {
      ...inner,
      save: async (record, how) => {
        if (how.durable) {
          await new Promise<void>((resolve) => {
            isStored = resolve;
          });
        }
        await inner.save(record, how);
      },
    };
    const ask: typeof fetch = (input, init) => {
      asked.push(init?.method ?? "GET");
      return fetch(input, init);
    };
    const { start, ...where } = target;
    const lethe = await openLethe({ ...where, store: slow, clock: () => now, fetch: ask });
    while (lethe.inspect().memory.length === 0) await lethe.sendPending();
    now = start + WINDOW_MS;
    void lethe.sendPending();
    await eventually(async () => isStored);
    const before = asked.length;
    const withdrawn = lethe.setConsent(false);
    isStored?.();
    await withdrawn;
    await sleep(5);
    expect([isStored === undefined, asked.slice(before)]).toEqual([false, []]);
    expect(await inner.load()).toBeUndefined();
    await lethe.close();
  });

  it("a report that is on its way is aborted: the service hears the connection end", async () => {
    let arrived = (): void => {};
    const isThere = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    // Never lets a report through.
    const proxy = await startFaultProxy({
      service,
      onReport: () => {
        arrived();
        return new Promise(() => {});
      },
    });
    let now = target.start;
    const { start, ...where } = target;
    const lethe = await openLethe({ ...where, server: proxy.urlOf("d"), clock: () => now });
    while (lethe.inspect().memory.length === 0) await lethe.sendPending();
    now = start + WINDOW_MS;
    let hasEnded = false;
    void lethe.sendPending().then(() => {
      hasEnded = true;
    });
    await isThere;
    await lethe.setConsent(false);
    expect(hasEnded).toBe(true);
    expect(proxy.requests.filter(({ asked }) => asked === "report")).toHaveLength(1);
    await lethe.close();
    await proxy.close();
  });
});

describe("with two servers, whose halves are wrapped asynchronously", () => {
  let pair: Pair;
  let target: Target;
  beforeAll(async () => {
    pair = await startPair({ leader: { enrolment: { rate: MANY }, keysAhead: 150 }, helper: { keysAhead: 150 } });
    const metrics = SHARED_TASK.metrics.slice(0, 1);
    const { manifest } = await makeTask(pair, { ...SHARED_TASK, task: "t", metrics });
    target = {
      server: pair.leader.url,
      task: manifest.task,
      operatorKey: pair.keys.leader,
      helperKey: pair.keys.helper,
      start: pair.helper.clock(),
    };
    await keysAreReady(target);
  });
  afterAll(() => pair.remove());

  it("consent withdrawn at every await from sealing on, those of WebCrypto included", async () => {
    const run: Run = { target, withdraw: (lethe) => lethe.setConsent(false), isCryptoPaced: true };
    // From the second on: a manifest is checked once.
    await withdrawAt(Number.POSITIVE_INFINITY, run);
    const { steps: all } = await withdrawAt(Number.POSITIVE_INFINITY, run);
    const steps = await atEveryStep(run, all.indexOf("durable save begins"));
    const expected = [...FROM_SEALING_ON, "deriveBits", "encrypt", "POST", "verify"];
    console.log(JSON.stringify({ steps: steps.length, all: all.length }));
    expect([...beginsAndEnds(expected)].filter((step) => !steps.includes(step))).toEqual([]);
  });
});

/** For this window and the next. */
async function keysAreReady({ server, task, start }: Target): Promise<void> {
  for (const window of [start / WINDOW_MS, start / WINDOW_MS + 1]) {
    const path = `${server}/v1/tasks/${task}/windows/${window}/devices`;
    while ((await fetch(path, { method: "POST" })).status !== 201) await sleep(50);
  }
}
