import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { canMakeDisks, type FaultyDisk, makeFaultyDisk } from "../../../files/test/faulty-disk.ts";
import { recordDisk } from "../../../files/test/recorded-disk.ts";
import { fileStore } from "../../dist/node/index.js";
import { decodeRecord } from "../../dist/record-codec.js";
import { openCountingDevice } from "../../test/counting-device.ts";
import { temporaryFolder } from "../../test/file-store-folder.ts";

const FOREVER = new AbortController().signal;
const MEGABYTES = 8;

const FAULTS: readonly (readonly [string, RegExp, (disk: FaultyDisk) => void, (disk: FaultyDisk) => void])[] = [
  ["that is full", /the disk is full: make room$/, (disk) => disk.fill(), (disk) => disk.free()],
  [
    "that is read-only",
    /the file system is read-only: make it writable, or use another folder$/,
    (disk) => disk.makeReadOnly(),
    (disk) => disk.makeWritable(),
  ],
];

it.skipIf(!canMakeDisks).each(FAULTS)(
  "on a disk %s a device says so once, sends nothing that is not stored, and loses nothing once that is over",
  async (_what, message, breakIt, mend) => {
    const disk = makeFaultyDisk(MEGABYTES);
    const folder = join(disk.folder, "store");
    const sent: Uint8Array[] = [];
    const device = await openCountingDevice(folder, { onSend: (body) => sent.push(body) });
    await device.untilCounting();
    const window = device.window();
    device.lethe.record("happened");
    const before = readFileSync(join(folder, "record"));

    breakIt(disk);
    device.toNextTick();
    await device.lethe.sendPending();
    device.lethe.record("happened");
    device.toNextWindow();
    for (let i = 0; i < 3; i++) await device.lethe.sendPending();
    expect(sent).toEqual([]);
    expect(readFileSync(join(folder, "record"))).toEqual(before);
    expect(readdirSync(folder).toSorted()).toEqual(["lock", "record"]);
    const problems = device.problems.filter(({ code }) => code === "bad-store").map((problem) => problem.message);
    expect(problems.length).toBeGreaterThan(0);
    for (const problem of problems) expect(problem).toMatch(/cannot be written|cannot be stored/);
    expect(problems[0]).toContain(folder);
    expect(problems[0]).toMatch(message);

    mend(disk);
    for (let i = 0; i < 200 && sent.length === 0; i++) {
      device.service.clock.advance(60);
      await device.lethe.sendPending();
    }
    expect((await device.status(window)).received).toBe(1);
    console.log(JSON.stringify({ problems }));
  },
);

it.skipIf(!canMakeDisks)(
  "on a disk that fails to read and write, a device says so, and the record is there when the disk is back",
  async () => {
    const disk = makeFaultyDisk(MEGABYTES);
    const folder = join(disk.folder, "store");
    const store = fileStore(folder);
    const release = await store.lock(FOREVER);
    const record = new Uint8Array(50_000).fill(7);
    await store.save(record, { durable: true });
    disk.cut();
    const failed = /the record in .* cannot be \w+: the disk failed: check it, and start again; or use another folder$/;
    for (const act of [
      () => store.save(record, { durable: true }),
      () => store.load(),
      () => fileStore(folder).lock(FOREVER),
    ]) {
      await expect(act()).rejects.toMatchObject({ code: "bad-store", message: expect.stringMatching(failed) });
    }
    await release?.().catch(() => undefined);
    disk.mountAgain();
    expect(await fileStore(folder).load()).toStrictEqual(record);
  },
);

it.skipIf(!canMakeDisks)(
  "a real power failure leaves the last durable record, or a newer one, and never half of one",
  async () => {
    const disk = makeFaultyDisk(MEGABYTES);
    const folder = join(disk.folder, "store");
    const found: number[] = [];
    for (let round = 0; round < 8; round++) {
      const store = fileStore(folder);
      const release = await store.lock(FOREVER);
      for (let version = 0; version <= round % 4; version++) {
        const durable = version === 0;
        await store.save(new Uint8Array(30_000).fill(10 * round + version), { durable });
      }
      await release?.();
      disk.cut();
      disk.mountAgain();
      // It may be back, and its process would be dead after a power failure.
      rmSync(join(folder, "lock"), { force: true });
      const record = readFileSync(join(folder, "record"));
      expect(new Set(record).size).toBe(1);
      expect(record.length).toBe(30_000);
      found.push((record[0] as number) - 10 * round);
    }
    console.log(JSON.stringify({ found }));
    for (const [round, version] of found.entries()) {
      expect(version).toBeGreaterThanOrEqual(0);
      expect(version).toBeLessThanOrEqual(round % 4);
    }
  },
);

it.skipIf(!canMakeDisks)(
  "when power fails as a report is sent, the same bytes are on the disk afterwards",
  async () => {
    const disk = makeFaultyDisk(MEGABYTES);
    const folder = join(disk.folder, "store");
    let body: Uint8Array | undefined;
    const device = await openCountingDevice(folder, {
      onSend: (bytes) => {
        body = bytes;
        disk.cut();
        throw new TypeError("the machine is off");
      },
    });
    await device.untilCounting();
    device.lethe.record("happened");
    device.toNextWindow();
    await device.lethe.sendPending();
    await device.lethe.close().catch(() => undefined);
    disk.mountAgain();
    const { windows } = decodeRecord(readFileSync(join(folder, "record")), device.operatorKey);
    const reports = windows.filter(({ report }) => report.length > 0).map(({ report }) => Buffer.from(report));
    expect(reports).toHaveLength(1);
    expect(Buffer.from(body ?? []).includes(reports[0] as Buffer)).toBe(true);
  },
);

it("a record that cannot be read is not replaced, until it was read or wiped", async () => {
  const folder = temporaryFolder();
  const store = fileStore(folder);
  const release = await store.lock(FOREVER);
  const old = new Uint8Array(100).fill(1);
  await store.save(old, { durable: true });
  await release?.();

  const again = fileStore(folder);
  const disk = recordDisk(folder, (name) => name === "record");
  disk.failRead("EIO");
  await again.lock(FOREVER);
  await expect(again.load()).rejects.toThrow(/the disk failed/);
  await expect(again.save(new Uint8Array(100).fill(2), { durable: true })).rejects.toMatchObject({
    code: "bad-store",
    message: `${join(folder, "record")} could not be read, so it is not replaced: start again when it can be read, or remove it`,
  });
  expect(await again.load()).toStrictEqual(old);
  await again.save(new Uint8Array(100).fill(3), { durable: true });
  expect((await again.load())?.[0]).toBe(3);
});
