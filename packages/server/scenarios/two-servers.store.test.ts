import { quantilesOf, type Task, windowAt } from "@lethe/core/message";
import { type ServerRole, twoServerReportBytes } from "@lethe/core/two-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { askToEnrol } from "../test/device.ts";
import { eventually } from "../test/eventually.ts";
import { windowsIn } from "../test/key-file.ts";
import { expectProblem } from "../test/problem.ts";
import { ADMIN_TOKEN, asAdmin, closeByHand } from "../test/service.ts";
import {
  agree,
  collect,
  documentOf,
  enrolShared,
  makeTask,
  type Pair,
  PEER_SECRET,
  propose,
  SHARED_TASK,
  type SharedTask,
  sendShared,
  sharedReport,
  shareOf,
  startPair,
} from "../test/two-servers.ts";

/** Nobody has the secret half. */
const NOBODYS_KEY = `ed25519:${"A".repeat(43)}`;
const ROLES = ["leader", "helper"] as const satisfies readonly ServerRole[];

let pair: Pair;
let helperPort: number;
beforeAll(async () => {
  pair = await startPair({}, { invalidNoise: () => 1000 });
  helperPort = Number(new URL(pair.helper.url).port);
});
afterAll(() => pair?.remove());

const runningWindow = ({ manifest }: SharedTask): number => windowAt(manifest, pair.helper.clock() / 1000);

/** Answers, rounded: the noise of the servers is as good as none. */
async function figuresOf(
  task: SharedTask,
  window: number,
): Promise<{ received: number; invalid: number; figures: unknown[] }> {
  const { received, invalid, metrics } = await collect(pair, task, window);
  for (const metric of metrics) {
    const named = quantilesOf(metric).map(({ q, low, bucket, high }) => [q, low === bucket && bucket === high]);
    // As good as no noise leaves no doubt.
    if ("buckets" in metric) expect(named).toEqual([0.5, 0.9].map((q) => [q, true]));
  }
  const figures = metrics.map((metric) =>
    "buckets" in metric
      ? metric.buckets.map(({ estimate }) => Math.round(estimate))
      : Math.round(100 * metric.estimate) / 100,
  );
  return { received, invalid: invalid.estimate, figures };
}

it("devices are counted by two servers, neither of which sees an answer", async () => {
  const task = await makeTask(pair);
  const window = runningWindow(task);
  const streams = [
    ["happened", "counted", "times", "average"],
    ["times", "times", "average", "average"],
    [],
    ["happened"],
  ];
  for (const events of streams) {
    const device = await enrolShared(pair, task, window);
    const body = await sharedReport(task, window, device, events);
    expect((await sendShared(pair, "shared", window, device, body)).status).toBe(201);
    expect((await sendShared(pair, "shared", window, device, body)).status).toBe(200);
  }
  pair.helper.clock.advance(181);
  expect(await figuresOf(task, window)).toEqual({ received: 4, invalid: 1000, figures: [2, 1, [2, 1, 1], 0.75] });
  const leader = await shareOf(pair.leader, pair.keys.leader, "shared", window);
  const helper = await shareOf(pair.helper, pair.keys.helper, "shared", window);
  expect(helper.reports).toEqual(leader.reports);
  expect([leader.enrolled, helper.enrolled, leader.invalid, helper.invalid]).toEqual([4, undefined, 1000, undefined]);
  for (const role of ROLES) {
    const line = { msg: "window finished", task: "shared", window, outcome: "released" };
    expect(pair.logged[role]).toContainEqual(expect.objectContaining(line));
  }
});

it("the leader passes on what its helper has published, byte by byte, for pages that may ask no other origin", async () => {
  const task = await makeTask(pair, { ...SHARED_TASK, task: "passed-on", metrics: SHARED_TASK.metrics.slice(0, 1) });
  const window = runningWindow(task);
  const passedOn = (): Promise<Response> => fetch(`${pair.leader.url}/helper/v1/tasks/passed-on/releases/${window}`);
  for (let i = 0; i < 3; i++) {
    const device = await enrolShared(pair, task, window);
    const body = await sharedReport(task, window, device, ["happened"]);
    expect((await sendShared(pair, "passed-on", window, device, body)).status).toBe(201);
  }
  await expectProblem(await passedOn(), "window-not-open");
  expect((await closeByHand(pair.leader, "passed-on", window)).status).toBe(200);
  const published = await documentOf(pair.helper, "passed-on", window);
  const response = await passedOn();
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
  expect(await response.text()).toBe(published);
  const others = ["unknown", "passed-on"].map((name) => `/helper/v1/tasks/${name}/releases/${window}`);
  await expectProblem(await fetch(`${pair.leader.url}${others[0]}`), "unknown-task");
  expect((await fetch(`${pair.helper.url}${others[1]}`)).status).toBe(404);
  await pair.helper.stop();
  const away = await passedOn();
  expect([away.status, await away.json()]).toMatchObject([503, { detail: "the helper does not answer: try again" }]);
  await pair.helper.restart({ port: helperPort });
  expect(await (await passedOn()).text()).toBe(published);
});

it("reports that cannot be opened count as no event, at both servers, and their number is released with noise", async () => {
  const task = await makeTask(pair, { ...SHARED_TASK, task: "invalid" });
  const window = runningWindow(task);
  const all = ["happened", "counted", "times", "average"];
  const report = async (alter: (body: Uint8Array) => void): Promise<void> => {
    const device = await enrolShared(pair, task, window);
    const body = await sharedReport(task, window, device, all);
    alter(body);
    expect((await sendShared(pair, "invalid", window, device, body)).status).toBe(201);
  };
  const flip = (body: Uint8Array, at: number): void => {
    body[at] = (body[at] as number) ^ 1;
  };
  await report(() => undefined);
  // The leader's half begins after header, manifest hash and report id; the helper's ends the report.
  await report((body) => flip(body, 60));
  await report((body) => flip(body, body.length - 1));
  await report((body) => flip(body, 40));
  await report((body) => body.fill(0, 50));
  expect((await closeByHand(pair.leader, "invalid", window)).status).toBe(200);
  expect(await figuresOf(task, window)).toEqual({ received: 5, invalid: 1004, figures: [1, 1, [4, 1, 0], 0.2] });
});

it("a release prints the same ε whatever share of its reports is forged", async () => {
  const metrics = SHARED_TASK.metrics.slice(0, 2);
  const released = await Promise.all(
    [0, 2, 4].map(async (forged) => {
      const name = `forged-${forged}`;
      const task = await makeTask(pair, { ...SHARED_TASK, task: name, missing: 0.4, metrics });
      const window = runningWindow(task);
      for (let i = 0; i < 4; i++) {
        const device = await enrolShared(pair, task, window);
        const body = await sharedReport(task, window, device, ["happened"]);
        if (i < forged) body.set(crypto.getRandomValues(new Uint8Array(body.length - 50)), 50);
        expect((await sendShared(pair, name, window, device, body)).status).toBe(201);
      }
      expect((await closeByHand(pair.leader, name, window)).status).toBe(200);
      return collect(pair, task, window);
    }),
  );
  const [first, ...others] = released.map(({ privacy, metrics }) => ({
    privacy,
    metrics: metrics.map(({ name, epsilon, localEpsilon }) => ({ name, epsilon, localEpsilon })),
  }));
  // ⌊3 · 0.6⌋
  expect(first?.privacy.honest).toBe(1);
  for (const other of others) expect(other).toEqual(first);
});

describe("after the shares are made", () => {
  it("secrets, reports and tallies are gone at both servers, and the shares stay", async () => {
    const task = await makeTask(pair, { ...SHARED_TASK, task: "erased" });
    const window = runningWindow(task);
    for (let i = 0; i < 3; i++) {
      const device = await enrolShared(pair, task, window);
      await sendShared(pair, "erased", window, device, await sharedReport(task, window, device, []));
    }
    for (const role of ROLES) expect(windowsIn(pair.keyFiles[role], "erased")).toContain(window);
    await closeByHand(pair.leader, "erased", window);
    const documents = await Promise.all(ROLES.map((role) => documentOf(pair[role], "erased", window)));
    for (const [i, role] of ROLES.entries()) {
      await eventually(async () => (windowsIn(pair.keyFiles[role], "erased").includes(window) ? undefined : true));
      await pair[role].stop();
      const database = await pair[role].openDatabase();
      const [row] = await database.query<{ id: number }>(
        "SELECT id FROM windows WHERE name = 'erased' AND number = $1 AND erased AND state = 'released'",
        [window],
      );
      for (const table of ["reports", "uncounted", "devices", "shared_reports", "tallies"]) {
        const rows = await database.query(`SELECT 1 FROM ${table} WHERE window_id = $1`, [row?.id as number]);
        expect({ role, table, rows: rows.length }).toEqual({ role, table, rows: 0 });
      }
      await database.close();
      // The keys that its tasks go by are those of both operators, and no others.
      const [other, known] =
        role === "leader" ? (["helper", "names"] as const) : (["leader", "was signed by"] as const);
      const peer = {
        url: role === "leader" ? pair.helper.url : "",
        secret: PEER_SECRET,
        operatorKey: pair.keys[other],
      };
      await expect(pair[role].restart({ peer: { ...peer, operatorKey: NOBODYS_KEY } })).rejects.toThrow(
        `${known} the ${other} key ${pair.keys[other]}, and --peer-key says ${NOBODYS_KEY}`,
      );
      await expect(pair[role].restart({ peer: { ...peer, operatorKey: pair.keys[role] } })).rejects.toThrow(
        `--peer-key is this ${role}'s own operator key`,
      );
      await pair[role].restart({ peer, port: role === "leader" ? 0 : helperPort });
      expect(await documentOf(pair[role], "erased", window)).toBe(documents[i]);
    }
  });

  it("or if too few reported, both say so", async () => {
    const task = await makeTask(pair, { ...SHARED_TASK, task: "few" });
    const window = runningWindow(task);
    const device = await enrolShared(pair, task, window);
    await sendShared(pair, "few", window, device, await sharedReport(task, window, device, []));
    await closeByHand(pair.leader, "few", window);
    for (const role of ROLES) {
      const document = JSON.parse(await documentOf(pair[role], "few", window));
      expect(document).toMatchObject({ status: "not-enough", missing: 2, received: 1 });
    }
  });
});

describe("a report", () => {
  let task: SharedTask;
  let window: number;
  beforeAll(async () => {
    task = await makeTask(pair, { ...SHARED_TASK, task: "sizes" });
    window = runningWindow(task);
  });

  it("of another size, or for another manifest, is refused before it is stored", async () => {
    const device = await enrolShared(pair, task, window);
    const body = await sharedReport(task, window, device, []);
    const send = (bytes: Uint8Array): Promise<Response> => sendShared(pair, "sizes", window, device, bytes);
    for (const bytes of [body.subarray(1), Uint8Array.of(...body, 0), new Uint8Array()]) {
      await expectProblem(await send(bytes), "wrong-size");
    }
    for (const at of [0, 1, 2, 33]) {
      await expectProblem(await send(body.map((byte, i) => (i === at ? byte ^ 1 : byte))), "bad-encoding");
    }
    expect((await send(body)).status).toBe(201);
    await expectProblem(await send(await sharedReport(task, window, device, [])), "report-differs");
  });

  it("has the documented size", async () => {
    const counters = (metrics: number): Task => ({
      ...SHARED_TASK,
      task: `metrics-${metrics}`,
      metrics: Array.from({ length: metrics }, (_, i) => ({
        name: `metric.m${i}`,
        statistic: "occurrence" as const,
        noise: "servers" as const,
        sigma: 10,
      })),
    });
    for (const metrics of [1, 20]) {
      const made = await makeTask(pair, counters(metrics));
      const device = await enrolShared(pair, made, window);
      const body = await sharedReport(made, window, device, []);
      // Header, manifest hash and report id; then each half: 96 or 64 bytes per bit, and what wraps it.
      expect(body).toHaveLength(2 + 32 + 16 + (96 * metrics + 48) + (64 * metrics + 48));
      expect(body).toHaveLength(twoServerReportBytes(made.layout));
      expect((await sendShared(pair, made.manifest.task, window, device, body)).status).toBe(201);
    }
  });
});

it("a helper answers neither devices nor an admin who wants tasks made or windows closed", async () => {
  const task = await makeTask(pair, { ...SHARED_TASK, task: "roles" });
  const window = runningWindow(task);
  expect((await askToEnrol(pair.helper, "roles", window)).status).toBe(404);
  await expectProblem(await closeByHand(pair.helper, "roles", window), "window-not-open");
  const posted = await fetch(`${pair.leader.url}/v1/peer/finish/roles/${window}`, { method: "POST" });
  expect(posted.status).toBe(404);
  const body = JSON.stringify({ ...SHARED_TASK, task: "unasked" });
  const headers = { "content-type": "application/json" };
  await expectProblem(
    await fetch(`${pair.helper.url}/v1/agreements`, { method: "POST", headers, body }),
    "unauthorized",
  );
  const paths = async (role: ServerRole): Promise<string[]> => {
    const description = await (await fetch(`${pair[role].url}/openapi.json`)).json();
    return Object.keys((description as { paths: object }).paths);
  };
  const ofHelpers = ["/v1/agreements", "/v1/peer/{operation}/{task}/{window}"];
  expect(await paths("helper")).toEqual(expect.arrayContaining(ofHelpers));
  for (const path of await paths("leader")) expect(ofHelpers).not.toContain(path);
});

it("what a helper's operator has agreed to is seen, and can be taken back until the leader has made it", async () => {
  const task = { ...SHARED_TASK, task: "agreed" };
  const agreed = async (): Promise<unknown> =>
    ((await (await asAdmin(pair.helper, "/v1/tasks")).json()) as { agreed: unknown }).agreed;
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const withdraw = (): Promise<Response> =>
    fetch(`${pair.helper.url}/v1/agreements/agreed/1/withdraw`, { method: "POST", headers });
  const terms = { ...task, hides: 1000, missing: 0 };
  expect(await (await agree(pair, task)).json()).toMatchObject({ task: "agreed", version: 1, terms });
  expect(await agreed()).toEqual([{ task: "agreed", version: 1 }]);
  expect((await withdraw()).status).toBe(200);
  expect(await agreed()).toEqual([]);
  const { detail } = await expectProblem(await propose(pair, task), "bad-task");
  expect(detail).toContain("has not agreed to version 1 of agreed");
  await makeTask(pair, task);
  expect(await agreed()).toEqual([]);
  await expectProblem(await withdraw(), "unknown-task");
});

it("a helper keeps no window for ever: one that its leader does not finish is lost after a week", async () => {
  const task = await makeTask(pair, { ...SHARED_TASK, task: "forsaken" });
  const window = runningWindow(task);
  const device = await enrolShared(pair, task, window);
  await sendShared(pair, "forsaken", window, device, await sharedReport(task, window, device, []));
  await eventually(async () => {
    const status = await fetch(`${pair.helper.url}/v1/tasks/forsaken/windows/${window}`);
    return ((await status.json()) as { received: number }).received === 1 ? true : undefined;
  });
  await pair.leader.stop();
  pair.helper.clock.advance(7 * 86_400);
  expect(windowsIn(pair.keyFiles.helper, "forsaken")).toContain(window);
  pair.helper.clock.advance(181);
  expect(JSON.parse(await documentOf(pair.helper, "forsaken", window))).toMatchObject({ status: "lost", received: 1 });
  await eventually(async () => (windowsIn(pair.keyFiles.helper, "forsaken").includes(window) ? undefined : true));
  await pair.leader.restart();
  expect(JSON.parse(await documentOf(pair.leader, "forsaken", window))).toMatchObject({ status: "lost", received: 1 });
});
