import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { secret } from "@lethe/core/encryption";
import { encodeBase64url, windowAt } from "@lethe/core/message";
import { openService } from "@lethe/server";
import { pino } from "pino";
import { afterEach, describe, expect, it } from "vitest";
import { openKeyFile } from "../dist/tally/key-file.js";
import { openTally } from "../dist/tally/sealed-tally.js";
import {
  type Device,
  enrol,
  enrolMany,
  fetchTask,
  type KnownTask,
  reportOf,
  reportPath,
  upload,
  uploadHeaders,
} from "../test/device.ts";
import { eventually } from "../test/eventually.ts";
import { readKeyFile, secretsIn } from "../test/key-file.ts";
import { openConnection } from "../test/raw-http.ts";
import {
  ADMIN_TOKEN,
  asAdmin,
  closeByHand,
  createTask,
  EXACT_TASK,
  SILENT,
  startTestService,
  type TestService,
} from "../test/service.ts";

/** On a busy machine what is quick may take longer than its limit; what is wrong does so every time. */
const BUSY = { retry: 5 };

let service: TestService;

afterEach(async () => {
  await service?.remove();
});

async function startWithTask(
  ...options: Parameters<typeof startTestService>
): Promise<{ task: KnownTask; window: number }> {
  service = await startTestService(...options);
  await createTask(service, EXACT_TASK);
  const task = await fetchTask(service, EXACT_TASK.task);
  return { task, window: windowAt(task.manifest, service.clock() / 1000) };
}

/** What was sent before these requests has reached the service when they are answered. */
async function everythingIsRead(): Promise<void> {
  for (let i = 0; i < 2; i++) await fetch(`${service.url}/healthz`);
}

describe("close", () => {
  it("under load loses nothing: what was acknowledged is stored, what was not can be sent again, and each counts once", async () => {
    const { task, window } = await startWithTask({ keysAhead: 60 });
    const devices = await enrolMany(service, task, window, 60);
    const reports = devices.map((device) => reportOf(device, "happened"));
    const acknowledged = new Set<number>();
    let sent = 0;
    const send = async (): Promise<void> => {
      while (sent < devices.length) {
        const i = sent++;
        try {
          const { status } = await upload(service, devices[i] as Device, reports[i] as Uint8Array);
          if (status === 201) acknowledged.add(i);
        } catch {
          // Not acknowledged.
        }
      }
    };
    const { url } = service;
    const sending = Promise.all(Array.from({ length: 12 }, send));
    await eventually(async () => (acknowledged.size >= 15 ? true : undefined));
    await service.stop();
    await sending;
    // The close came in the midst of it.
    expect(acknowledged.size).toBeLessThan(devices.length);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();

    await service.restart();
    const again = await Promise.all(devices.map((device, i) => upload(service, device, reports[i] as Uint8Array)));
    for (const [i, { status }] of again.entries()) {
      expect([200, 201]).toContain(status);
      if (acknowledged.has(i)) expect(status).toBe(200);
    }
    await closeByHand(service, task.name, window);
    const release = await eventually(async () => {
      const response = await fetch(`${service.url}/v1/tasks/${task.name}/releases/${window}`);
      return response.status === 200
        ? ((await response.json()) as { received: number; metrics: { estimate: number }[] })
        : undefined;
    });
    expect(release.received).toBe(devices.length);
    expect(release.metrics[0]?.estimate).toBeCloseTo(devices.length, 2);
  });

  it("answers the requests that are under way", async () => {
    const { task, window } = await startWithTask();
    const [device] = await enrolMany(service, task, window, 1);
    if (!device) throw new TypeError("no device");
    const report = reportOf(device);
    const { socket, answered } = await openConnection(service.url);
    const headers = Object.entries({
      ...uploadHeaders(device),
      host: "test",
      connection: "close",
      "content-length": report.length,
    });
    const lines = headers.map(([name, value]) => `${name}: ${value}`);
    socket.write(`PUT ${reportPath(device)} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
    socket.write(report.slice(0, 40));
    await everythingIsRead();
    const stopping = service.stop();
    await new Promise((resolve) => setTimeout(resolve, 100));
    socket.write(report.slice(40));
    expect(await answered).toMatch(/^HTTP\/1\.1 201 /);
    await stopping;
    await service.restart();
    expect((await upload(service, device, report)).status).toBe(200);
  });

  it("waits no longer than for the answer, also for clients that keep their connection", BUSY, async () => {
    let isAsked = (): void => undefined;
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    const attest = (): Promise<boolean> => {
      isAsked();
      return new Promise((resolve) => setTimeout(resolve, 300, true));
    };
    const { task, window } = await startWithTask({ enrolment: { attest } });
    const { url, operatorKey } = service;
    const enrolled = enrol({ url, operatorKey }, task, window);
    await asked;
    const start = performance.now();
    await service.stop();
    expect(performance.now() - start).toBeLessThan(4000);
    expect((await enrolled).token).not.toBe("");
  });

  it(
    "does not wait for connections on which nobody says anything, nor for half a request, and may be called twice",
    BUSY,
    async () => {
      const { task, window } = await startWithTask();
      const device = await enrol(service, task, window);
      const { hostname, port } = new URL(service.url);
      const silent = connect(Number(port), hostname);
      const half = connect(Number(port), hostname);
      for (const socket of [silent, half]) socket.on("error", () => undefined);
      const headers = Object.entries({ ...uploadHeaders(device), host: "test", "content-length": 98 });
      half.write(
        `PUT ${reportPath(device)} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}`).join("\r\n")}\r\n\r\n`,
      );
      half.write("half");
      await everythingIsRead();
      const start = performance.now();
      await Promise.all([service.stop(), service.stop()]);
      expect(performance.now() - start).toBeLessThan(15_000);
      for (const socket of [silent, half]) socket.destroy();
    },
  );
});

describe("a start", () => {
  it("without the key file, with another operator's, or with secrets that differ is refused; with the right one operator, tasks, secrets and devices are as before", async () => {
    const { task, window } = await startWithTask();
    const device = await enrol(service, task, window);
    const { operatorKey } = service;
    await service.stop();
    const right = readFileSync(service.keyFile);
    const content = readKeyFile(service.keyFile);
    const stranger = encodeBase64url(new Uint8Array(32).fill(7));
    const wrong: [string, string | undefined, RegExp][] = [
      ["missing", undefined, /key file/],
      [
        "another operator's",
        JSON.stringify({ ...content, operator: stranger }),
        /not the one that this database was used with/,
      ],
      ["without the window's secret", JSON.stringify({ ...content, windows: {} }), /no secret for window/],
      [
        "with another secret",
        JSON.stringify({ ...content, windows: { ...content.windows, [`${task.name}/${window}`]: stranger } }),
        /no secret for window/,
      ],
    ];
    for (const [what, text, reason] of wrong) {
      rmSync(service.keyFile, { force: true });
      if (text !== undefined) writeFileSync(service.keyFile, text, { mode: 0o600 });
      const refusal = await service.restart().then(
        () => undefined,
        (error: unknown) => error as Error & { code?: string },
      );
      expect({ what, code: refusal?.code }).toEqual({ what, code: "bad-key-file" });
      expect(refusal?.message).toMatch(reason);
      for (const hidden of [...Object.values(content.windows), content.operator, content.chain, stranger]) {
        expect(refusal?.message).not.toContain(hidden);
      }
    }
    rmSync(service.keyFile, { force: true });
    writeFileSync(service.keyFile, right, { mode: 0o600 });
    await service.restart();
    expect(service.operatorKey).toBe(operatorKey);
    expect((await fetchTask(service, task.name)).hash).toEqual(task.hash);
    expect(readKeyFile(service.keyFile).windows).toMatchObject(content.windows);
    expect((await upload(service, device, reportOf(device))).status).toBe(201);
  });

  it.each(["", "short", "with spaces in it, and long", "ümlauts-are-not-ascii-either", "x".repeat(501)])(
    "with the admin token %j is refused",
    async (adminToken) => {
      const nowhere = { data: "/nowhere", keyFile: "/nowhere", host: "127.0.0.1", port: 0, log: SILENT };
      await expect(openService({ ...nowhere, adminToken })).rejects.toThrow(/admin token/);
    },
  );

  it("on a port that is taken fails and lets go of everything", async () => {
    service = await startTestService();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    await expect(service.restart({ port })).rejects.toThrow(/EADDRINUSE/);
    other.close();
    await service.restart({ port: 0 });
  });
});

it("the count of invalid reports begins with noise, drawn again for every window", async () => {
  service = await startTestService({ keysAhead: 1 }, "as operators start it");
  for (let i = 0; i < 6; i++) await createTask(service, { ...EXACT_TASK, task: `noisy-${i}` });
  await service.stop();
  const database = await service.openDatabase();
  const rows = await database.query<{ name: string; number: number; sealed: Uint8Array }>(
    "SELECT name, number, sealed FROM tallies JOIN windows ON window_id = id",
  );
  await database.close();
  expect(rows.length).toBeGreaterThanOrEqual(12);
  const keys = openKeyFile(service.keyFile);
  const begun = rows.map(({ name, number, sealed }) => {
    const windowSecret = keys.windowSecret(name, number) ?? secret(new Uint8Array(32));
    return openTally(windowSecret, sealed, "sums").invalid;
  });
  keys.close();
  // The likeliest value of the noise has probability tanh(ε/4) = 0.025: at most two values among 12 has less than
  // 1e-12.
  expect(new Set(begun).size).toBeGreaterThan(2);
});

it("neither logs nor metrics nor answers tell a device, a token, an address or a secret", async () => {
  const lines: string[] = [];
  const log = pino({ level: "trace" }, { write: (line: string) => void lines.push(line) });
  const { task, window } = await startWithTask({
    log,
    enrolment: { tokens: ["operators-enrolment-token"] },
  });
  const headers = { authorization: "Bearer operators-enrolment-token" };
  const devices = await Promise.all(Array.from({ length: 5 }, () => enrol(service, task, window, { headers })));
  const secrets = new Set(secretsIn(service.keyFile));
  const [first, second] = devices as [Device, Device];
  for (const device of devices) expect((await upload(service, device, reportOf(device, "happened"))).status).toBe(201);
  // Everything that can go wrong on the way.
  await upload(service, first, reportOf(first));
  await upload(service, { ...first, token: second.token }, reportOf(first));
  await upload(service, first, new Uint8Array(98));
  await upload(service, { ...first, window: window + 1 }, reportOf(first));
  await fetch(`${service.url}${reportPath(first)}?x=${first.token}`, { headers: uploadHeaders(first) });
  await fetch(`${service.url}/v1/tasks`, { headers: uploadHeaders(first) });
  await asAdmin(service, "/v1/tasks", { ...EXACT_TASK, version: "1" });
  await closeByHand(service, task.name, window);
  const release = await eventually(async () => {
    const response = await fetch(`${service.url}/v1/tasks/${task.name}/releases/${window}`);
    return response.status === 200 ? response.text() : undefined;
  });
  for (const secret of secretsIn(service.keyFile)) secrets.add(secret);
  const told = [
    await (await fetch(`${service.url}/metrics`)).text(),
    await (await fetch(`${service.url}/v1/tasks/${task.name}/windows/${window}`)).text(),
    release,
  ];
  await service.stop();
  expect(lines.length).toBeGreaterThan(10);
  expect(lines.join("")).toContain("window finished");
  const hidden = [
    ...devices.flatMap(({ id, token }) => [encodeBase64url(id), Buffer.from(id).toString("hex"), token]),
    ...secrets,
    ADMIN_TOKEN,
    "operators-enrolment-token",
    "127.0.0.1",
  ];
  expect(hidden.length).toBeGreaterThan(20);
  for (const text of [...lines, ...told]) for (const each of hidden) expect(text).not.toContain(each);
});
