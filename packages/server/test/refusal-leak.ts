import { randomBytes } from "node:crypto";
import { randomnessFrom } from "@lethe/core/randomness";
import { expect } from "vitest";
import {
  ALARM_SHARE,
  type Comparison,
  compareAnswers,
  compareTimes,
  figuresOf,
  LEAK_T,
  spin,
  timed,
} from "../../core/test/leak.ts";
import { isToken } from "../dist/intake/token.js";
import { askToEnrol, type Device, enrol, fetchTask, type KnownTask, reportOf, upload } from "./device.ts";
import { createTask, EXACT_TASK, type TestService } from "./service.ts";

const random = randomnessFrom(globalThis.crypto);

/** Of the time of an answer: a longer or shorter one in three quarters of the blocks is an alarm. */
const BOUND = 0.25;

/** Throws unless neither class takes longer by more than the bound; prints what was found. */
function requireWithin(what: string, found: Comparison): void {
  console.log(figuresOf(what, found));
  const bound = BOUND * found.median;
  expect({
    what,
    above: found.shareAbove(bound) < ALARM_SHARE,
    below: 1 - found.shareAbove(-bound) < ALARM_SHARE,
  }).toEqual({
    ...{ what, above: true, below: true },
  });
}

const changedAt = (token: string, at: number): string =>
  `${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`;

/** Many comparisons at a time, because one takes less than the clock can tell. */
const TOGETHER = 40;

/** As a careless program would do it. */
function isEqualSoFar(given: string, expected: string): boolean {
  for (let i = 0; i < expected.length; i++) if (given.charCodeAt(i) !== expected.charCodeAt(i)) return false;
  return true;
}

/** The comparison of tokens takes as long wherever two differ; one that stops at the first difference is found. */
export function testTokens(pairs: number): void {
  const token = randomBytes(32).toString("base64url");
  const [first, last] = [changedAt(token, 0), changedAt(token, token.length - 1)];
  const many = (compare: (given: string, expected: string) => boolean, given: string) => (): number =>
    timed(() => {
      for (let i = 0; i < TOGETHER; i++) if (compare(given, token)) throw new Error("it is another token");
    });
  const found = compareTimes(many(isToken, first), many(isToken, last), { pairs, random });
  requireWithin("a token that differs in its last character, not its first", found);
  const planted = compareTimes(many(isEqualSoFar, first), many(isEqualSoFar, last), { pairs, random });
  console.log(figuresOf("the same, compared up to the first difference", planted));
  expect(planted.t).toBeGreaterThan(LEAK_T);
}

async function timedAnswer(answer: () => Promise<Response>, status: number): Promise<number> {
  const start = process.hrtime.bigint();
  const response = await answer();
  await response.arrayBuffer();
  const taken = Number(process.hrtime.bigint() - start);
  expect(response.status).toBe(status);
  return taken;
}

/** A task with devices, of which the first has reported. */
export interface LeakScene {
  readonly service: TestService;
  readonly task: KnownTask;
  readonly window: number;
  readonly reported: Device;
  readonly silent: Device;
}

export async function prepareScene(service: TestService, enrolmentToken: string): Promise<LeakScene> {
  await createTask(service, EXACT_TASK);
  const task = await fetchTask(service, EXACT_TASK.task);
  const window = Math.floor(service.clock() / 1000 / (EXACT_TASK.ticks * EXACT_TASK.tickSeconds));
  const init = { headers: { authorization: `Bearer ${enrolmentToken}` } };
  const [reported, silent] = [await enrol(service, task, window, init), await enrol(service, task, window, init)];
  expect((await upload(service, reported, reportOf(reported))).status).toBe(201);
  return { service, task, window, reported, silent };
}

/** What is refused takes as long, whatever is right about it. */
export async function testRefusals(scene: LeakScene, enrolmentToken: string, pairs: number): Promise<void> {
  const { service, task, window, reported, silent } = scene;
  const report = reportOf(silent);
  const put =
    (device: Device, token: string, status: number, id = device.id) =>
    (): Promise<number> =>
      timedAnswer(() => upload(service, { ...device, id, token }, report), status);
  const { token } = silent;
  const wrong = [changedAt(token, 0), changedAt(token, token.length - 1)] as const;
  const refused = put(silent, wrong[0], 401);
  const compare = (other: () => Promise<number>): Promise<Comparison> =>
    compareAnswers(refused, other, { pairs, random });
  requireWithin("a wrong upload token that differs late", await compare(put(silent, wrong[1], 401)));
  requireWithin("a wrong upload token of a device that has reported", await compare(put(reported, wrong[0], 401)));
  // The status differs, too.
  console.log(figuresOf("an unknown device", await compare(put(silent, wrong[0], 404, random16()))));
  const ask = (given: string) => (): Promise<number> =>
    timedAnswer(() => askToEnrol(service, task.name, window, { headers: { authorization: `Bearer ${given}` } }), 401);
  const enrolments = [changedAt(enrolmentToken, 0), changedAt(enrolmentToken, enrolmentToken.length - 1)] as const;
  requireWithin(
    "a wrong enrolment token that differs late",
    await compareAnswers(ask(enrolments[0]), ask(enrolments[1]), { pairs, random }),
  );
  const planted = await compare(async () => (await refused()) + timed(() => spin(2 * BOUND * 1e6)));
  console.log(figuresOf(`a planted ${2 * BOUND} ms`, planted));
  expect(planted.t).toBeGreaterThan(LEAK_T);
}

const random16 = (): Uint8Array => new Uint8Array(randomBytes(16));

/** An intake takes as long to store a valid report as to store random bytes of the same form. */
export async function testUploads(
  { service, task, window }: LeakScene,
  init: RequestInit,
  pairs: number,
): Promise<void> {
  const devices = await Promise.all(Array.from({ length: 2 * pairs }, () => enrol(service, task, window, init)));
  const reports = devices.map((device, i) => {
    const report = reportOf(device);
    const noise = report.slice();
    random(noise.subarray(34));
    return i % 2 === 0 ? report : noise;
  });
  let turns = [0, 1];
  const send = (kind: 0 | 1) => (): Promise<number> => {
    const at = turns[kind] as number;
    turns = turns.with(kind, at + 2);
    return timedAnswer(() => upload(service, devices[at] as Device, reports[at] as Uint8Array), 201);
  };
  requireWithin("a report of random bytes", await compareAnswers(send(0), send(1), { pairs, random }));
}
