import { expect, it, onTestFinished } from "vitest";
import { eventually } from "../../test/eventually.ts";
import { startReceiver } from "../../test/receiver.ts";
import { SILENT, startTestService } from "../../test/service.ts";
import { openKeyFile } from "../tally/key-file.ts";
import { startWebhook } from "../webhook/webhook.ts";
import type { Database } from "./database.ts";
import { countDeliveries, queueDelivery, takeDelivery, wantDeliveries } from "./deliveries.ts";
import { addDocument } from "./releases.ts";

const TASK = "exact";

async function emptyDatabase(): Promise<{ database: Database; keyFile: string }> {
  const service = await startTestService();
  await service.stop();
  const database = (await service.openDatabase()) as unknown as Database;
  onTestFinished(async () => {
    await database.close();
    await service.remove();
  });
  return { database, keyFile: service.keyFile };
}

it("outcomes are queued once somebody wants them, and not for longer than that", async () => {
  const { database } = await emptyDatabase();
  await addDocument(database, TASK, 1, "{}");
  expect(await countDeliveries(database)).toEqual({ deliveries: 0, dropped: 0 });
  await wantDeliveries(database);
  await addDocument(database, TASK, 2, "{}");
  expect((await countDeliveries(database)).deliveries).toBe(1);
  await database.query("UPDATE webhook SET wanted_until = clock_timestamp() - make_interval(days => $1)", [1]);
  await addDocument(database, TASK, 3, "{}");
  expect((await countDeliveries(database)).deliveries).toBe(1);
  await wantDeliveries(database);
  await addDocument(database, TASK, 4, "{}");
  expect((await countDeliveries(database)).deliveries).toBe(2);
});

it("the queue is bounded: the oldest outcomes are dropped, and counted", async () => {
  const { database } = await emptyDatabase();
  await wantDeliveries(database);
  for (let window = 1; window <= 5; window++) {
    await database.query("INSERT INTO releases (name, number, document) VALUES ($1, $2, $3)", [TASK, window, "{}"]);
    await queueDelivery(database, TASK, window, 3);
  }
  expect(await countDeliveries(database)).toEqual({ deliveries: 3, dropped: 2 });
  const taken = [];
  for (let i = 0; i < 4; i++) taken.push((await takeDelivery(database, 60))?.window);
  expect(taken).toEqual([3, 4, 5, undefined]);
});

it("key holders on one database share the work: no outcome is posted twice, none is forgotten", async () => {
  const { database, keyFile: path } = await emptyDatabase();
  const keyFile = openKeyFile(path);
  onTestFinished(() => keyFile.close());
  // Slow enough that all of them have something to do.
  const receiver = await startReceiver((_, response) => void setTimeout(() => response.writeHead(204).end(), 20));
  onTestFinished(() => receiver.close());
  let delivered = 0;
  const start = () =>
    startWebhook({
      ...{ database, keyFile, log: SILENT, now: () => 1, url: new URL(receiver.url) },
      ...{ leaseSeconds: 30, pollMilliseconds: 10, onFailed: () => undefined },
      onDelivered: () => {
        delivered++;
      },
    });
  const webhooks = await Promise.all([start(), start(), start()]);
  onTestFinished(async () => {
    for (const { stop } of webhooks) await stop();
  });
  for (let window = 1; window <= 30; window++) await addDocument(database, TASK, window, `{"window":${window}}`);
  await eventually(async () => (await countDeliveries(database)).deliveries === 0 || undefined);
  // The database knows a moment before the process does.
  await eventually(async () => delivered >= 30 || undefined);
  expect(delivered).toBe(30);
  const windows = receiver.posts.map(({ document }) => document.window);
  expect(windows.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
});
