import { once } from "node:events";
import { cpSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Task, windowAt } from "@lethe/core/message";
import type { ServerRole } from "@lethe/core/two-server";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { askToEnrol } from "../test/device.ts";
import { eventually } from "../test/eventually.ts";
import { unownedFolder } from "../test/folder.ts";
import { codeOf, leadAlone } from "../test/own-leader.ts";
import { expectProblem } from "../test/problem.ts";
import { closeByHand } from "../test/service.ts";
import {
  agree,
  collect,
  documentOf,
  enrolShared,
  makeKeyFiles,
  makeTask,
  type Pair,
  PEER_SECRET,
  propose,
  SHARED_TASK,
  type SharedDevice,
  type SharedTask,
  sendShared,
  sharedReport,
  startPair,
} from "../test/two-servers.ts";

/** Windows of hours, so that clocks may differ within one. */
const TASK: Task = {
  ...SHARED_TASK,
  tickSeconds: 3600,
  minimumDevices: 1,
  metrics: [{ name: "counted", statistic: "occurrence", noise: "servers", sigma: 0.05 }],
};

let pair: Pair;
let port: number;
/** Of the leader's clock, in seconds. */
let skew = 0;

beforeAll(async () => {
  // Well within a window.
  pair = await startPair({ leader: { clock: () => pair.helper.clock() + 1000 * skew } }, { leaseSeconds: 0.2 });
  pair.helper.clock.advance(1800);
  port = Number(new URL(pair.helper.url).port);
});

afterAll(() => pair?.remove());

beforeEach(() => {
  for (const role of ["leader", "helper"] as const) pair.warnings[role].length = 0;
});

/** Both servers say what is wrong, under its name. */
async function bothSay(code: string): Promise<void> {
  for (const role of ["leader", "helper"] as const) {
    await eventually(async () => pair.warnings[role].find((warning) => warning.code === code));
  }
}

/** However many rounds it lasts. */
async function isSaidOnce(code: string): Promise<void> {
  await sleep(500);
  for (const role of ["leader", "helper"] as const) {
    expect(pair.warnings[role].filter((warning) => warning.code === code).length).toBeLessThan(2);
  }
}

const isReady = async (): Promise<boolean> => (await fetch(`${pair.leader.url}/readyz`)).status === 200;
const becomesReady = (): Promise<true> => eventually(async () => ((await isReady()) ? true : undefined));
const becomesUnready = (): Promise<true> => eventually(async () => ((await isReady()) ? undefined : true));

interface Started {
  readonly task: SharedTask;
  readonly name: string;
  readonly window: number;
  devices(number: number): Promise<SharedDevice[]>;
  /** Each of them had the event. */
  report(...devices: readonly SharedDevice[]): Promise<void>;
  /** How many reports a server says that it has. */
  received(role: ServerRole): Promise<number>;
  counted(reports: number): Promise<void>;
}

async function start(name: string): Promise<Started> {
  const task = await makeTask(pair, { ...TASK, task: name });
  const window = windowAt(TASK, pair.helper.clock() / 1000);
  const received = async (role: ServerRole): Promise<number> => {
    const status = await fetch(`${pair[role].url}/v1/tasks/${name}/windows/${window}`);
    return ((await status.json()) as { received: number }).received;
  };
  return {
    task,
    name,
    window,
    devices: (number) => Promise.all(Array.from({ length: number }, () => enrolShared(pair, task, window))),
    report: async (...devices) => {
      for (const device of devices) {
        const body = await sharedReport(task, window, device, ["counted"]);
        expect((await sendShared(pair, name, window, device, body)).status).toBe(201);
      }
    },
    received,
    counted: async (reports) => {
      await eventually(async () => ((await received("helper")) === reports ? true : undefined));
    },
  };
}

async function releases({ task, name, window }: Started, devices: number): Promise<void> {
  expect((await closeByHand(pair.leader, name, window)).status).toBe(200);
  const release = await collect(pair, task, window);
  expect(release).toMatchObject({ received: devices, invalid: { estimate: 0 } });
  expect(release.metrics).toMatchObject([{ estimate: devices }]);
}

async function isLost({ name, window }: Started, ...roles: readonly ServerRole[]): Promise<void> {
  for (const role of roles) {
    const document = JSON.parse(await documentOf(pair[role], name, window));
    expect({ role, document }).toMatchObject({ document: { status: "lost" } });
  }
}

/** Stops a server, copies all it has, and starts it again; what this returns puts everything back to then. */
async function backUp(role: ServerRole): Promise<() => Promise<void>> {
  const [service, keyFile] = [pair[role], pair.keyFiles[role]];
  const again = (): Promise<void> => service.restart(role === "helper" ? { port } : {});
  await service.stop();
  const restore = await service.backup();
  cpSync(keyFile, `${keyFile}.backup`);
  await again();
  return async () => {
    await service.stop();
    await restore();
    cpSync(`${keyFile}.backup`, keyFile);
    await again();
  };
}

describe("a task", () => {
  it("that the helper has not agreed to, or to another text of it, is not made", async () => {
    const task = { ...TASK, task: "disagreed" };
    const refused = await expectProblem(await propose(pair, task), "bad-task");
    expect(refused.detail).toContain("task-differs");
    expect((await agree(pair, { ...task, minimumDevices: 100 })).status).toBe(200);
    const differs = "the helper refuses it (task-differs): the helper has agreed to a version 1 of disagreed";
    expect((await expectProblem(await propose(pair, task), "bad-task")).detail).toBe(
      `${differs} that says something else: minimumDevices is 100 at the helper and 1 at the leader`,
    );
    expect(pair.warnings.helper.map(({ code }) => code)).toEqual(["task-differs", "task-differs"]);
    for (const role of ["leader", "helper"] as const) {
      await expectProblem(await fetch(`${pair[role].url}/v1/tasks/disagreed`), "unknown-task");
    }
    // What is agreed to stays so.
    await expectProblem(await agree(pair, task), "bad-task");
  });

  it("of another leader's operator key is not taken", async () => {
    const folder = unownedFolder();
    const { leader } = makeKeyFiles(folder);
    const foreign = leadAlone(pair.helper, leader.path, { ...TASK, task: "foreign" });
    expect(await codeOf(foreign)).toBe("bad-signature");
    expect(pair.warnings.helper).toMatchObject([{ code: "bad-signature", operation: "task" }]);
    expect(pair.warnings.helper[0]?.reason).toContain(
      `not signed by ${pair.keys.leader}, which the helper's --peer-key`,
    );
    rmSync(folder, { recursive: true });
  });
});

it("servers with different secrets say so, and go on when they have the same", async () => {
  const started = await start("secrets");
  const devices = await started.devices(2);
  const peer = { url: pair.helper.url, secret: PEER_SECRET, operatorKey: pair.keys.helper };
  await pair.leader.restart({ peer: { ...peer, secret: `not ${PEER_SECRET}` } });
  await started.report(...devices);
  await bothSay("unauthorized");
  await becomesUnready();
  expect(JSON.stringify(pair.warnings)).not.toContain(PEER_SECRET);
  await isSaidOnce("unauthorized");
  expect(await started.received("helper")).toBe(0);
  await pair.leader.restart({ peer });
  await becomesReady();
  await releases(started, 2);
});

it.each([61, -61, 600])(
  "clocks that are %i seconds apart are named, and everything is counted once they are right",
  async (apart) => {
    const started = await start(`clocks-${apart + 100}`);
    const devices = await started.devices(2);
    skew = apart;
    await started.report(...devices);
    await bothSay("clocks-apart");
    await becomesUnready();
    expect(await started.received("helper")).toBe(0);
    skew = 0;
    await becomesReady();
    await releases(started, 2);
  },
);

it("while the helper is away the leader takes reports, and devices while there are keys; then everything is counted", async () => {
  const started = await start("away");
  const early = await started.devices(3);
  await pair.helper.stop();
  await started.report(...early);
  await becomesUnready();
  const reason = `the helper at http://127.0.0.1:${port} cannot be reached`;
  expect(await (await fetch(`${pair.leader.url}/readyz`)).text()).toBe(`not ready: unreachable: ${reason}\n`);
  await isSaidOnce("unreachable");
  const refused = await eventually(async () => {
    const response = await askToEnrol(pair.leader, started.name, started.window);
    return response.status === 201 ? undefined : response;
  });
  expect(refused.headers.get("retry-after")).not.toBeNull();
  await expectProblem(refused, "no-keys-left");
  expect(await started.received("leader")).toBe(3);
  await pair.helper.restart({ port });
  await becomesReady();
  await eventually(async () => pair.logged.leader.find(({ msg }) => msg === "tally works again"));
  await started.report(...(await started.devices(2)));
  await releases(started, 5);
});

it("a helper that does not answer holds up nobody but who waits for it", async () => {
  const started = await start("silent");
  const devices = await started.devices(1);
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const peer = { url: pair.helper.url, secret: PEER_SECRET, operatorKey: pair.keys.helper };
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  await pair.leader.restart({ peer: { ...peer, url } });
  const asked = new Promise<void>((resolve) => {
    silent.on("request", ({ url: path }) => path?.startsWith("/v1/peer/task/") && resolve());
  });
  const proposed = propose(pair, { ...TASK, task: "silence" });
  await asked;
  await started.report(...devices);
  expect(await started.received("leader")).toBe(1);
  const closed = once(silent, "close");
  silent.close();
  silent.closeAllConnections();
  await closed;
  expect((await proposed).status).toBe(503);
  await pair.leader.restart({ peer });
  await releases(started, 1);
});

describe("a server that was restored from a backup", () => {
  it("the helper, which has counted fewer reports then: the window is lost at both", async () => {
    const started = await start("restored-helper");
    const devices = await started.devices(3);
    await started.report(...devices.slice(0, 1));
    await started.counted(1);
    const restore = await backUp("helper");
    await started.report(...devices.slice(1));
    await started.counted(3);
    await restore();
    expect(await started.received("helper")).toBe(1);
    await closeByHand(pair.leader, started.name, started.window);
    await bothSay("reports-differ");
    await isLost(started, "leader", "helper");
    await becomesReady();
  });

  it("the leader, which has fewer reports then: the window is lost at both", async () => {
    const started = await start("restored-leader");
    const devices = await started.devices(3);
    await started.report(...devices.slice(0, 1));
    await started.counted(1);
    const restore = await backUp("leader");
    await started.report(...devices.slice(1));
    await started.counted(3);
    await restore();
    await closeByHand(pair.leader, started.name, started.window);
    await bothSay("reports-differ");
    await isLost(started, "leader", "helper");
  });

  it("the helper, which has lost the window's keys: what devices encrypted for it is not taken for invalid, the window is lost", async () => {
    const restore = await backUp("helper");
    const started = await start("restored-keys");
    const devices = await started.devices(2);
    await started.report(...devices.slice(0, 1));
    await started.counted(1);
    await restore();
    // Its task is gone, too.
    await started.report(...devices.slice(1));
    await bothSay("task-differs");
    const task = { ...TASK, task: started.name };
    expect((await agree(pair, task)).status).toBe(200);
    expect((await propose(pair, task)).status).toBe(200);
    await bothSay("reports-differ");
    await isLost(started, "leader");
    await becomesReady();
  });

  it("the leader, from before the helper made its share: the window is lost, and nobody can put shares together", async () => {
    const started = await start("restored-late");
    const devices = await started.devices(2);
    await pair.helper.stop();
    await started.report(...devices);
    const restore = await backUp("leader");
    await pair.helper.restart({ port });
    await releases(started, 2);
    await restore();
    await bothSay("window-closed");
    await isLost(started, "leader");
    expect(JSON.parse(await documentOf(pair.helper, started.name, started.window))).toMatchObject({ status: "shared" });
  });
});
