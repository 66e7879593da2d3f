/// <reference lib="dom" />
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { TestService } from "../../server/test/service.ts";
import type { Fault } from "./broken-stores.ts";
import { bundle, launchWithProfile, servePage } from "./browser.ts";
import type {} from "./browser-lethe.ts";
import { temporaryFolder } from "./file-store-folder.ts";
import {
  bytesIn,
  clearTextIn,
  type Found,
  NAMES,
  newTask,
  TIMES,
  tellApart,
  throughWindow,
  toNextWindow,
} from "./forensics.ts";
import { prefixed, putsIn } from "./leveldb-log.ts";

/** Each is a process of the browser. */
const PAGES_AT_ONCE = 8;

/** So many pages with events in every tick and as many without, each an origin of its own, in one profile. */
export async function examineChromium(service: TestService, each: number, fault?: Fault): Promise<Found> {
  const task = await newTask(service);
  const profile = temporaryFolder();
  const script = await bundle(new URL("browser-lethe.ts", import.meta.url));
  const html = `<!doctype html><script type="module" src="page.js"></script>`;
  const site = await servePage(html, { "page.js": script }, `connect-src ${service.url}`);
  const context = await launchWithProfile(profile);
  // Of the same length: Chromium stores them.
  const hosts = Array.from({ length: 2 * each }, (_, i) => `${"01"[i % 2]}-${1000 + i}.localhost`);
  try {
    for (let from = 0; from < hosts.length; from += PAGES_AT_ONCE) {
      const pages = await Promise.all(
        hosts.slice(from, from + PAGES_AT_ONCE).map(async (host) => {
          const page = await context.newPage();
          await page.goto(Object.assign(new URL(site.url), { hostname: host }).href);
          return page;
        }),
      );
      await runPages(service, task, pages, fault);
      for (const page of pages) await page.close();
    }
  } finally {
    await context.close();
    site.close();
  }
  const { port } = new URL(site.url);
  const runs = hosts.map((host) => {
    const folder = join(profile, "Default", "IndexedDB", `http_${host}_${port}.indexeddb.leveldb`);
    return { happened: isWithEvents(host), versions: versionsIn(folder), diskBytes: bytesIn(folder) };
  });
  return tellApart(runs, service.operatorKey, clearTextIn(profile));
}

const isWithEvents = (host: string): boolean => host.startsWith("1");

async function runPages(
  service: TestService,
  task: string,
  pages: readonly Page[],
  fault: Fault | undefined,
): Promise<void> {
  toNextWindow(service);
  const options = { server: service.url, task, operatorKey: service.operatorKey };
  const backwards = NAMES.map((name) => [...name].reverse().join(""));
  const all = <T>(act: (page: Page) => Promise<T>): Promise<T[]> => Promise.all(pages.map(act));
  await all((page) =>
    page.evaluate(
      async ([now, chosen, broken]) => {
        counter.now = now;
        await counter.openBroken(chosen, broken);
      },
      [service.clock(), options, fault] as const,
    ),
  );
  await throughWindow(service, {
    task,
    live: async () => void (await all((page) => page.evaluate((now) => counter.live(now), service.clock()))),
    isEnrolled: async () => {
      const enrolled = await all((page) => page.evaluate(() => counter.lethe?.inspect().memory.length !== 0));
      return enrolled.every(Boolean);
    },
    record: async () => {
      await all(async (page) => {
        if (!isWithEvents(new URL(page.url()).hostname)) return;
        await page.evaluate(([names, times]) => counter.record(names, times), [backwards, TIMES] as const);
      });
    },
  });
  const problems = await all((page) =>
    page.evaluate(async () => {
      await counter.lethe?.close();
      return counter.problems;
    }),
  );
  expect(problems.flat().filter(({ code }) => code !== "no-keys-left")).toEqual([]);
}

/** In keys: the first database, its first store, the records in it. */
const RECORDS = Buffer.of(0, 1, 1, 1);
/** Before the length and the bytes of an array, in a structured clone. */
const ARRAY = Buffer.of(0xff, 0x10, 0x42);

/** Every part of the record that was ever put, put together again: keys end with where a part begins, as a double. */
function versionsIn(folder: string): Uint8Array[] {
  const logs = readdirSync(folder).filter((name) => name.endsWith(".log"));
  // So little was written that nothing was moved to a table.
  expect([logs.length, readdirSync(folder).filter((name) => name.endsWith(".ldb"))]).toEqual([1, []]);
  const versions: Uint8Array[][] = [];
  for (const { key, value } of putsIn(readFileSync(join(folder, logs[0] as string)))) {
    const at = value.indexOf(ARRAY);
    if (!key.subarray(0, 4).equals(RECORDS) || at < 0) continue;
    if (key.readDoubleLE(key.length - 8) === 0) versions.push([]);
    versions.at(-1)?.push(prefixed(value, at + ARRAY.length).bytes);
  }
  return versions.map((parts) => new Uint8Array(Buffer.concat(parts)));
}
