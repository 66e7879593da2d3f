import type { Release, Task, Withheld } from "@lethe/core/message";
import { windowAt } from "@lethe/core/message";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { askToEnrol, enrol, fetchTask, inGroup, type KnownTask, reportOf, upload } from "../test/device.ts";
import { eventually } from "../test/eventually.ts";
import { unownedFolder } from "../test/folder.ts";
import { codeOf, leadAlone } from "../test/own-leader.ts";
import { expectProblem } from "../test/problem.ts";
import { createTask, EXACT_TASK, startTestService, type TestService } from "../test/service.ts";
import {
  collect,
  documentOf,
  enrolShared,
  makeKeyFiles,
  makeTask,
  type Pair,
  PEER_SECRET,
  SHARED_TASK,
  sendShared,
  sharedReport,
  shareOf,
  startPair,
} from "../test/two-servers.ts";

const GROUPS = ["stable", "beta", "canary"] as const;
/** On 3 of 4 devices of the first group, on none of 3 of the second, on both of 2 of the third, which are too few. */
const HAPPENED: Readonly<Record<string, readonly boolean[]>> = {
  stable: [true, true, false, true],
  beta: [false, false, false],
  canary: [true, true],
};

/** To quarters; a zero has no sign. */
const quarter = ({ estimate }: { readonly estimate: number }): number => Math.round(estimate * 4) / 4 + 0;
const rounded = (metrics: Release["metrics"]): unknown[] =>
  metrics.map((metric) => ("buckets" in metric ? metric.buckets.map(quarter) : quarter(metric)));

describe("one server", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service?.remove());

  async function startTask(changes: Partial<Task>): Promise<{ task: KnownTask; window: number }> {
    const wanted = { ...EXACT_TASK, ...changes };
    await createTask(service, wanted);
    const task = await fetchTask(service, wanted.task);
    return { task, window: windowAt(task.manifest, service.clock() / 1000) };
  }

  async function send(task: KnownTask, window: number, group: string, happened: boolean): Promise<void> {
    const device = await enrol(service, task, window, {}, group);
    const report = reportOf(device, ...(happened ? ["happened"] : []));
    expect((await upload(service, device, report)).status).toBe(201);
    expect((await upload(service, device, report)).status).toBe(200);
  }

  async function publishedOf<T>({ name }: KnownTask, window: number): Promise<T> {
    return JSON.parse(await documentOf(service, name, window)) as T;
  }

  it("counts every report in the group of its device, and publishes nothing of a group that is too small", async () => {
    const { task, window } = await startTask({ task: "grouped", groups: GROUPS });
    const all = Object.entries(HAPPENED).flatMap(([group, each]) => each.map((happened) => ({ group, happened })));
    // Mixed, so that batches hold several groups; and a device that never reports.
    for (const { group, happened } of all.toSorted((a, b) => Number(a.happened) - Number(b.happened))) {
      await send(task, window, group, happened);
    }
    await enrol(service, task, window, {}, "beta");
    const status = await (await fetch(`${service.url}/v1/tasks/grouped/windows/${window}`)).json();
    // While the window runs, nobody learns from the counts which group a device has just joined.
    expect(status).toMatchObject({ enrolled: 10, received: 9, minimumDevices: 3, groups: GROUPS });
    expect(JSON.stringify(status).match(/enrolled|received/g)).toHaveLength(2);
    await service.restart();
    service.clock.advance(181);
    const release = await publishedOf<Release>(task, window);
    expect(release).toMatchObject({ status: "released", enrolled: 10, received: 9, devices: 7 });
    expect(rounded(release.metrics)).toEqual([3]);
    const [stable, beta, canary] = release.groups ?? [];
    if (stable?.status !== "released" || beta?.status !== "released") throw new TypeError("not released");
    expect(stable).toMatchObject({ group: "stable", enrolled: 4, received: 4 });
    expect(rounded(stable.metrics)).toEqual([3]);
    expect(beta).toMatchObject({ group: "beta", enrolled: 4, received: 3 });
    expect(rounded(beta.metrics)).toEqual([0]);
    expect(canary).toEqual({ group: "canary", status: "not-enough", enrolled: 2, received: 2, missing: 1 });
    expect(release.differences).toHaveLength(1);
    expect(release.differences?.[0]).toMatchObject({ group: "beta", minus: "stable", metrics: [{ name: "happened" }] });
    const [difference] = release.differences?.[0]?.metrics ?? [];
    expect(difference && "estimate" in difference && difference.estimate).toBeCloseTo(-0.75, 6);
    // What is published is the same if the small group's devices had answered otherwise: see released-groups.test.ts.
    expect(release.privacy.honest).toBe(3);
  });

  it("publishes nothing but counts if every group is too small, however many devices there are", async () => {
    const { task, window } = await startTask({ task: "small", groups: GROUPS });
    for (const group of GROUPS) for (let i = 0; i < 2; i++) await send(task, window, group, true);
    service.clock.advance(181);
    const withheld = await publishedOf<Withheld>(task, window);
    expect(withheld).toMatchObject({ status: "not-enough", missing: 1, enrolled: 6, received: 6 });
    expect(withheld.groups).toEqual(
      GROUPS.map((group) => ({ group, status: "not-enough", enrolled: 2, received: 2, missing: 1 })),
    );
    expect(JSON.stringify(withheld)).not.toContain("estimate");
  });

  it("a window of a task with groups in which nobody reported ends, too", async () => {
    const { task, window } = await startTask({ task: "empty", groups: GROUPS });
    await enrol(service, task, window, {}, "beta");
    service.clock.advance(181);
    const withheld = await publishedOf<Withheld>(task, window);
    expect(withheld).toMatchObject({ status: "not-enough", missing: 3, enrolled: 1, received: 0 });
    expect(withheld.groups?.map(({ enrolled }) => enrolled)).toEqual([0, 1, 0]);
  });

  it("refuses a device without a group of the task, names the groups, and asks it to stay away for long", async () => {
    const { task, window } = await startTask({ task: "refusing", groups: GROUPS });
    const requests = [{}, inGroup(undefined), inGroup("nightly"), inGroup(""), inGroup("Stable")];
    for (const request of requests) {
      const response = await askToEnrol(service, task.name, window, request);
      expect(response.headers.get("retry-after")).toBe("86400");
      const { detail } = await expectProblem(response, "bad-encoding");
      expect(detail).toMatch(/: pass one of them to openLethe as group: stable, beta, canary$/);
    }
    const status = await eventually(async () => {
      const found = await (await fetch(`${service.url}/v1/tasks/refusing/windows/${window}`)).json();
      return (found as { refused: Record<string, number> }).refused["bad-encoding"] === requests.length
        ? found
        : undefined;
    });
    expect(status).toMatchObject({ enrolled: 0 });
  });

  it("a task without groups takes devices that state one, so that applications can be first", async () => {
    const { task, window } = await startTask({ task: "plain" });
    expect((await askToEnrol(service, task.name, window, inGroup("beta"))).status).toBe(201);
  });
});

describe("two servers", () => {
  let pair: Pair;
  beforeAll(async () => {
    pair = await startPair();
  });
  afterAll(() => pair?.remove());

  it("count every report in the same group, and share nothing of a group that is too small", async () => {
    const task = await makeTask(pair, { ...SHARED_TASK, groups: GROUPS });
    const window = windowAt(task.manifest, pair.helper.clock() / 1000);
    for (const [group, each] of Object.entries(HAPPENED)) {
      for (const happened of each) {
        const device = await enrolShared(pair, task, window, group);
        const body = await sharedReport(task, window, device, happened ? ["happened", "counted", "times"] : []);
        expect((await sendShared(pair, "shared", window, device, body)).status).toBe(201);
      }
    }
    pair.helper.clock.advance(181);
    const release = await collect(pair, task, window);
    expect(release).toMatchObject({ enrolled: 9, received: 9, devices: 7 });
    expect(rounded(release.metrics)).toEqual([3, 3, [4, 3, 0], 0]);
    const [stable, beta, canary] = release.groups ?? [];
    if (stable?.status !== "released" || beta?.status !== "released") throw new TypeError("not released");
    expect(rounded(stable.metrics)).toEqual([3, 3, [1, 3, 0], 0]);
    expect(rounded(beta.metrics)).toEqual([0, 0, [3, 0, 0], 0]);
    expect([stable.received, beta.received]).toEqual([4, 3]);
    expect(canary).toEqual({ group: "canary", status: "not-enough", enrolled: 2, received: 2, missing: 1 });
    const [leader, helper] = [
      await shareOf(pair.leader, pair.keys.leader, "shared", window),
      await shareOf(pair.helper, pair.keys.helper, "shared", window),
    ];
    // Six answers of two groups, eight bytes each: there is nothing to put together for the third.
    expect([leader.share.length, helper.share.length]).toEqual([96, 96]);
    expect(helper.groups).toEqual([4, 3, 2].map((received, i) => ({ group: GROUPS[i], received })));
  });

  it("publish no share if every group is too small", async () => {
    const task = await makeTask(pair, { ...SHARED_TASK, task: "small", groups: GROUPS });
    const window = windowAt(task.manifest, pair.helper.clock() / 1000);
    for (const group of ["stable", "stable", "beta", "canary"]) {
      const device = await enrolShared(pair, task, window, group);
      const body = await sharedReport(task, window, device, ["happened"]);
      expect((await sendShared(pair, "small", window, device, body)).status).toBe(201);
    }
    pair.helper.clock.advance(181);
    for (const server of [pair.leader, pair.helper]) {
      const document = await documentOf(server, "small", window);
      expect(JSON.parse(document)).toMatchObject({ status: "not-enough", missing: 1, received: 4 });
      expect(JSON.parse(document)).toMatchObject({ groups: [{ received: 2 }, { received: 1 }, { received: 1 }] });
    }
  });
});

describe("a leader that puts a report into another group", () => {
  let helper: TestService;
  const files = makeKeyFiles(unownedFolder());
  const lead = (task: string) =>
    leadAlone(helper, files.leader.path, { ...SHARED_TASK, task, minimumDevices: 1, groups: GROUPS });
  beforeAll(async () => {
    const peer = { secret: PEER_SECRET, operatorKey: files.leader.key };
    helper = await startTestService({ role: "helper", keyFile: files.helper.path, peer });
  });
  afterAll(() => helper?.remove());

  it("after the helper has counted it is refused", async () => {
    const own = await lead("moved");
    const device = await own.enrol();
    const id = new Uint8Array(16).fill(7);
    const entry = await own.entry(device, ["happened"], id, 1);
    const answer = await own.ask(entry);
    expect(await own.ask(entry)).toEqual(answer);
    expect(await codeOf(own.ask({ ...entry, groupByte: Uint8Array.of(0) }))).toBe("report-differs");
  });

  it("when it finishes loses the window", async () => {
    const own = await lead("finished-otherwise");
    const entry = await own.entry(await own.enrol(), ["happened"], undefined, 1);
    await own.ask(entry);
    expect(await codeOf(own.finish({ ...entry, groupByte: Uint8Array.of(2) }))).toBe("reports-differ");
  });

  it("that the task does not have is refused", async () => {
    const own = await lead("none");
    const entry = await own.entry(await own.enrol(), ["happened"], undefined, 3);
    expect(await codeOf(own.ask(entry))).toBe("bad-encoding");
  });
});
