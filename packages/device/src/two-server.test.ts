import { generateKeyPairSync, sign } from "node:crypto";
import type { LetheError } from "@lethe/core/error";
import { encodeBase64url, encodeManifest, encodeSignedManifest, type Release } from "@lethe/core/message";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../server/test/eventually.ts";
import { EXACT_TASK } from "../../server/test/service.ts";
import {
  collect,
  makeTask,
  type Pair,
  SHARED_TASK,
  type SharedTask,
  startPair,
} from "../../server/test/two-servers.ts";
import { type Lethe, type LetheOptions, memoryStore, openLethe } from "../dist/index.js";
import { decodeRecord } from "../dist/record-codec.js";

let pair: Pair;
beforeAll(async () => {
  pair = await startPair();
});
afterAll(() => pair.remove());

const WINDOW_SECONDS = SHARED_TASK.ticks * SHARED_TASK.tickSeconds;
/**
 * Shared bits of a state: two occurrences, 2·2 of the histogram, 3 of the mean; and of a report, in which the histogram
 * has 3.
 */
const [STATE_BITS, REPORT_BITS] = [9, 8];
const BIT_BYTES = 128;
/** Of the leader and of the helper. */
const KEY_BYTES = 98 + 66;
/** The name under which a budget counts a report. It replaces the keys. */
const RECEIPT_BYTES = 16;
/** Each of the four statistics has a header of 10 bytes. */
const STATE_BYTES = 4 * 10 + STATE_BITS * BIT_BYTES;
/** With an id, two seeds and two wrapping keys. */
const REPORT_BYTES = 16 + 4 * 32 + REPORT_BITS * BIT_BYTES;

const windowNow = (): number => Math.floor(pair.helper.clock() / 1000 / WINDOW_SECONDS);
const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

function toNextWindow(): void {
  pair.helper.clock.advance(WINDOW_SECONDS - ((pair.helper.clock() / 1000) % WINDOW_SECONDS));
}

let tasks = 0;
/** Each test has its own task, in a window that begins now and has keys, as the next has. */
async function newTask(): Promise<SharedTask> {
  const task = await makeTask(pair, { ...SHARED_TASK, task: `t${tasks++}` });
  toNextWindow();
  for (const window of [windowNow(), windowNow() + 1]) {
    const path = `${pair.leader.url}/v1/tasks/${task.manifest.task}/windows/${window}/devices`;
    while ((await fetch(path, { method: "POST" })).status !== 201) await sleep(20);
  }
  return task;
}

interface Device {
  readonly lethe: Lethe;
  readonly problems: LetheError[];
}

async function open(task: SharedTask, options: Partial<LetheOptions> = {}): Promise<Device> {
  return openAlone(task, { helperKey: pair.keys.helper, ...options });
}

/** Without a helper's key, unless one is given. */
async function openAlone({ manifest: { task } }: SharedTask, options: Partial<LetheOptions> = {}): Promise<Device> {
  const problems: LetheError[] = [];
  const lethe = await openLethe({
    server: pair.leader.url,
    operatorKey: pair.keys.leader,
    task,
    clock: pair.helper.clock,
    onProblem: (error) => problems.push(error),
    ...options,
  });
  await lethe.sendPending();
  return { lethe, problems };
}

const isCounting = ({ lethe }: Device): boolean => lethe.inspect().memory.length > 0;

/** Until the window that runs is counted; there may be no keys left for a moment. */
async function untilCounting(device: Device): Promise<void> {
  while (!isCounting(device)) {
    await sleep(20);
    pair.helper.clock.advance(1);
    await device.lethe.sendPending();
  }
}

async function enrolled({ manifest: { task } }: SharedTask, window: number): Promise<number> {
  const answer = await fetch(`${pair.leader.url}/v1/tasks/${task}/windows/${window}`);
  return ((await answer.json()) as { enrolled: number }).enrolled;
}

/** Of happened, counted, times and average. */
function figuresOf({ metrics }: Release): unknown[] {
  return metrics.map((metric) =>
    "buckets" in metric
      ? metric.buckets.map(({ estimate }) => Math.round(estimate))
      : Math.round(100 * metric.estimate) / 100,
  );
}

/** But for those of a service that has not made keys enough yet. */
const codesOf = ({ problems }: Device): string[] =>
  problems.map(({ code }) => code).filter((code) => code !== "no-keys-left");

interface StoredSizes {
  readonly record: number;
  /** Of keys, state and report in each window. */
  readonly windows: readonly (readonly number[])[];
}

function sizesIn(stored: Uint8Array | undefined): StoredSizes {
  const { windows } = decodeRecord(stored as Uint8Array, pair.keys.leader);
  return {
    record: (stored as Uint8Array).length,
    windows: windows.map(({ publicKeys, state, report }) => [publicKeys.length, state.length, report.length]),
  };
}

describe("a window with two servers", () => {
  it("is counted exactly, over restarts, and so is the next", async () => {
    const task = await newTask();
    const stores = [memoryStore(), memoryStore(), memoryStore()];
    const inTick = async (events: readonly (readonly string[])[]): Promise<void> => {
      for (const [i, store] of stores.entries()) {
        const device = await open(task, { store });
        await untilCounting(device);
        for (const event of events[i] as string[]) device.lethe.record(event);
        await device.lethe.close();
        expect(codesOf(device)).toEqual([]);
      }
    };
    const first = windowNow();
    await inTick([["happened", "times", "average"], ["counted", "times", "average", "average"], []]);
    pair.helper.clock.advance(WINDOW_SECONDS / 2);
    await inTick([["times"], ["times"], ["times"]]);
    toNextWindow();
    await inTick([["average"], [], ["happened", "average"]]);
    toNextWindow();
    for (const store of stores) await (await open(task, { store })).lethe.close();
    pair.helper.clock.advance(WINDOW_SECONDS);
    expect(figuresOf(await collect(pair, task, first))).toEqual([1, 1, [0, 1, 2], 1]);
    expect(figuresOf(await collect(pair, task, first + 1))).toEqual([1, 0, [3, 0, 0], 0.67]);
  });

  it("shows in no size whether there were events", async () => {
    const task = await newTask();
    const withoutReports: typeof fetch = async (input, init) => {
      if (init?.method === "PUT") throw new TypeError("nobody there");
      return fetch(input, init);
    };
    const devices = [await open(task, { fetch: withoutReports }), await open(task, { fetch: withoutReports })] as const;
    for (const device of devices) await untilCounting(device);
    const sizes = () => devices.map(({ lethe }) => sizesIn(lethe.inspect().stored));
    for (const { name } of SHARED_TASK.metrics) devices[0].lethe.record(name, 3);
    const memory = devices.map(({ lethe }) => lethe.inspect().memory.map(({ ciphertexts }) => ciphertexts.length));
    expect(memory[0]).toEqual(memory[1]);
    pair.helper.clock.advance(SHARED_TASK.tickSeconds);
    for (const { lethe } of devices) await lethe.sendPending();
    const counting = sizes();
    expect(counting.map(({ windows }) => windows[0])).toEqual(devices.map(() => [KEY_BYTES, STATE_BYTES, 0]));
    toNextWindow();
    for (const { lethe } of devices) await lethe.sendPending();
    const sealed = sizes();
    expect(sealed.map(({ windows }) => windows[0])).toEqual(devices.map(() => [RECEIPT_BYTES, 0, REPORT_BYTES]));
    expect(new Set([...counting, ...sealed].map(({ record }) => record)).size).toBe(1);
    for (const { lethe } of devices) await lethe.close();
  });

  it("is wiped when consent is withdrawn, and begun afresh when it is given again", async () => {
    const store = memoryStore();
    const device = await open(await newTask(), { store });
    await untilCounting(device);
    device.lethe.record("happened");
    await device.lethe.setConsent(false);
    expect(await store.load()).toBeUndefined();
    expect(device.lethe.inspect()).toEqual({ stored: undefined, memory: [] });
    await device.lethe.setConsent(true);
    await untilCounting(device);
    await device.lethe.close();
    expect(codesOf(device)).toEqual([]);
  });
});

it("a report is sent with the same bytes until its answer comes, also after a restart", async () => {
  const task = await newTask();
  const window = windowNow();
  const sent: string[] = [];
  const losing: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init);
    if (init?.method !== "PUT") return answer;
    sent.push(encodeBase64url(init.body as Uint8Array));
    if (sent.length < 4) throw new TypeError("the answer is lost");
    return answer;
  };
  const store = memoryStore();
  const device = await open(task, { store, fetch: losing });
  await untilCounting(device);
  toNextWindow();
  for (let i = 0; i < 2; i++) await device.lethe.sendPending();
  await device.lethe.close();
  const again = await open(task, { store, fetch: losing });
  await again.lethe.sendPending();
  expect(sent).toHaveLength(4);
  expect(new Set(sent).size).toBe(1);
  expect(new Set(codesOf(device))).toEqual(new Set(["unreachable"]));
  await again.lethe.close();
  expect(decodeRecord((await store.load()) as Uint8Array, pair.keys.leader).windows).not.toContainEqual(
    expect.objectContaining({ window }),
  );
});

interface SentKeys {
  publicKeys: string;
  signature: string;
}

/** Another character in the middle. */
function flip(keys: SentKeys | undefined, field: keyof SentKeys): void {
  if (!keys) throw new TypeError("there are no such keys");
  const text = keys[field];
  const at = text.length >> 1;
  keys[field] = text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1);
}

describe("whom an application trusts", () => {
  let task: SharedTask;
  beforeAll(async () => {
    task = await newTask();
  });

  function problemOf(options: Partial<LetheOptions>, how = open): Promise<string> {
    return eventually(async () => {
      const device = await how(task, options);
      device.lethe.record("happened");
      expect(device.lethe.inspect()).toEqual({ stored: undefined, memory: [] });
      await device.lethe.close();
      const [problem, ...others] = device.problems;
      expect(others).toEqual([]);
      // Others have used them up, and more are being made.
      return problem?.code === "no-keys-left" ? undefined : `${problem?.code}: ${problem?.message}`;
    });
  }

  /** Asks the leader, and alters the keys that it returns. */
  const altered =
    (alter: (keys: SentKeys[]) => unknown): typeof fetch =>
    async (input, init) => {
      const answer = await fetch(input, init);
      if (init?.method !== "POST" || !answer.ok) return answer;
      const enrolment = (await answer.json()) as { keys: SentKeys[] };
      alter(enrolment.keys);
      return Response.json(enrolment, { status: 201 });
    };

  it("a task of two servers is not counted for an application that names no helper", async () => {
    const before = await enrolled(task, windowNow());
    expect(await problemOf({}, openAlone)).toBe(
      "bad-signature: the task has two servers: the application must pass the helper's key as helperKey",
    );
    expect(await enrolled(task, windowNow())).toBe(before);
  });

  it("nor with another helper than the application names", async () => {
    const before = await enrolled(task, windowNow());
    const wrong = "bad-signature: helperKey is not the key of the task's helper";
    expect(await problemOf({ helperKey: `ed25519:${"A".repeat(43)}` })).toBe(wrong);
    const own = "bad-signature: helperKey is the leader's own: two servers of one operator are one";
    expect(await problemOf({ helperKey: pair.keys.leader })).toBe(own);
    expect(await enrolled(task, windowNow())).toBe(before);
  });

  it("a task of one server is not counted for an application that names a helper", async () => {
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    const operatorKey = `ed25519:${publicKey.export({ format: "jwk" }).x}`;
    const servers = [{ role: "tally", url: pair.leader.url, key: operatorKey }] as const;
    const manifest = encodeManifest({ ...EXACT_TASK, task: task.manifest.task, fromWindow: 0, servers });
    const signature = new Uint8Array(sign(null, new TextEncoder().encode(manifest), privateKey));
    const downgrading = async (): Promise<Response> => new Response(encodeSignedManifest({ manifest, signature }));
    expect(await problemOf({ operatorKey, fetch: downgrading })).toMatch(/^bad-signature: the manifest has no helper/);
  });

  it.each([
    ["an altered signature", (keys) => flip(keys[1], "signature"), "bad-signature: the helper's keys are not signed"],
    ["altered keys", (keys) => flip(keys[1], "publicKeys"), "bad-signature: the helper's keys are not signed"],
    ["altered keys of the leader", (keys) => flip(keys[0], "publicKeys"), "bad-signature: the leader's keys are not"],
    ["the leader's keys twice", (keys) => keys.splice(1, 1, keys[0] as SentKeys), "bad-signature: the helper's keys"],
    ["the keys in another order", (keys) => keys.reverse(), "bad-signature: the leader's keys are not signed"],
    ["no keys of the helper", (keys) => keys.pop(), "bad-encoding: the enrolment cannot be read"],
  ] satisfies [string, (keys: SentKeys[]) => unknown, string][])(
    "with %s a device does not count",
    async (_, alter, told) => {
      expect(await problemOf({ fetch: altered(alter) })).toContain(told);
    },
  );

  it("a device whose application names another helper begins afresh, and sends nothing", async () => {
    const store = memoryStore();
    const device = await open(task, { store });
    await untilCounting(device);
    await device.lethe.close();
    toNextWindow();
    const methods: unknown[] = [];
    const fetching: typeof fetch = async (input, init) => {
      methods.push(init?.method);
      return fetch(input, init);
    };
    const other = await open(task, { store, fetch: fetching, helperKey: pair.keys.leader });
    expect(codesOf(other)).toEqual(["bad-state", "bad-signature"]);
    expect(methods).not.toContain("PUT");
    expect(methods).not.toContain("POST");
    await other.lethe.close();
  });

  it("an invalid key is reported at once", async () => {
    await expect(open(task, { helperKey: "rsa:1" })).rejects.toThrow(/begins with ed25519:/);
  });
});
