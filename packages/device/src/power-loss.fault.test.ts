import { join } from "node:path";
import { expect, it } from "vitest";
import { type CrashState, everyCrash, withoutSyncs } from "../../files/test/crash-states.ts";
import { type Operation, recordDisk } from "../../files/test/recorded-disk.ts";
import { decodeRecord } from "../dist/record-codec.js";
import { type CountingDevice, openCountingDevice } from "../test/counting-device.ts";
import { temporaryFolder } from "../test/file-store-folder.ts";

const WINDOWS = 2;

/** The device counts, seals and sends, window after window. */
async function countWindows(device: CountingDevice): Promise<void> {
  for (let i = 0; i < WINDOWS; i++) {
    await device.untilCounting();
    device.lethe.record("happened");
    device.toNextWindow();
    await device.lethe.sendPending();
    expect((await device.status(device.window() - 1)).received).toBe(1);
  }
}

/** Whether a record holds the sealed report that these bytes were made from. */
function holdsReport(record: Uint8Array | undefined, operatorKey: string, body: Uint8Array): boolean {
  if (!record) return false;
  try {
    const { windows } = decodeRecord(record, operatorKey);
    return windows.some(({ report }) => report.length > 0 && Buffer.from(body).includes(Buffer.from(report)));
  } catch {
    return false;
  }
}

it("a sealed report is on the disk before its first byte is sent, whatever a power failure leaves at that moment", async () => {
  const folder = temporaryFolder();
  const disk = recordDisk(folder, (name) => name.startsWith("record"));
  const device = await openCountingDevice(folder, {
    onSend: (body) => disk.mark(`send ${Buffer.from(body).toString("hex")}`),
    onSent: () => disk.mark("sent"),
  });
  await countWindows(device);
  const { operatorKey } = device;
  const examine = (operations: readonly Operation[]): { states: number; wrong: number } => {
    const counts = { states: 0, wrong: 0 };
    for (const { marks, state } of everyCrash(operations)) {
      const [what, body] = marks.at(-1)?.split(" ") ?? [];
      if (what !== "send") continue;
      counts.states++;
      if (!holdsReport(recordIn(state, folder), operatorKey, Buffer.from(body ?? "", "hex"))) counts.wrong++;
    }
    return counts;
  };
  const found = examine(disk.operations);
  // Without the syncs before the first report is sent, the same check must find that it can be lost.
  const until = disk.operations.findIndex((operation) => operation.kind === "mark") + 1;
  const planted = (["files", "folders"] as const).map((of) => {
    const seal = disk.operations.slice(0, until);
    const last = seal.findLastIndex((operation) => operation.kind === "name") - 4;
    return examine([...seal.slice(0, last), ...withoutSyncs(seal.slice(last), of)]);
  });
  console.log(JSON.stringify({ operations: disk.operations.length, ...found, planted }));
  expect(found.wrong).toBe(0);
  expect(found.states).toBeGreaterThanOrEqual(WINDOWS);
  for (const { wrong } of planted) expect(wrong).toBeGreaterThan(0);
});

const recordIn = (state: CrashState, folder: string): Uint8Array | undefined => state.get(join(folder, "record"));
