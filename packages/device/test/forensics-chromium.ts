/// <reference lib="dom" />
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { eventually } from "../../server/test/eventually.ts";
import type { TestService } from "../../server/test/service.ts";
import { decodeVersion } from "../dist/store/version.js";
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
import { putsInTable } from "./leveldb-table.ts";

/** Each is a process of the browser. */
const PAGES_AT_ONCE = 8;
/**
 * In this tick all pages are closed, and opened again. In the first, before any has enrolled for the next window: a
 * page that is opened later tries to enrol when the next one begins, and whether the service has keys by then is
 * chance.
 */
const CLOSED_IN_TICK = 1;
/** Of the store that `browser-lethe.ts` opens, in localStorage. */
const LOCAL_KEY = "lethe:forensics";

/** Pages with events in every tick and as many without, each with its own origin, in one profile. */
export async function examineChromium(service: TestService, each: number, fault?: Fault): Promise<Found> {
  const task = await newTask(service);
  const profile = temporaryFolder();
  const script = await bundle(new URL("browser-lethe.ts", import.meta.url));
  const html = `<!doctype html><script type="module" src="page.js"></script>`;
  const site = await servePage(html, { "page.js": script }, `connect-src ${service.url}`);
  const context = await launchWithProfile(profile);
  // Of the same length: Chromium stores them.
  const hosts = Array.from({ length: 2 * each }, (_, i) => `${"01"[i % 2]}-${1000 + i}.localhost`);
  const sizes = new Map<string, number[]>();
  const local = new Map<string, Uint8Array[]>(hosts.map((host) => [host, []]));
  try {
    for (let from = 0; from < hosts.length; from += PAGES_AT_ONCE) {
      const some = hosts.slice(from, from + PAGES_AT_ONCE);
      const open = (): Promise<Page[]> =>
        Promise.all(
          some.map(async (host) => {
            const page = await context.newPage();
            await page.goto(Object.assign(new URL(site.url), { hostname: host }).href);
            return page;
          }),
        );
      const onClosed = async (): Promise<void> => {
        for (const host of some) await addNewVersions(profile, host, local.get(host) ?? []);
      };
      const written = await runPages(service, task, { open, onClosed }, fault);
      for (const [i, host] of some.entries()) sizes.set(host, written[i] ?? []);
    }
  } finally {
    await context.close();
    site.close();
  }
  const { port } = new URL(site.url);
  const runs = hosts.map((host) => {
    const folder = join(profile, "Default", "IndexedDB", `http_${host}_${port}.indexeddb.leveldb`);
    const [versions, localVersions, localSizes] = [versionsIn(folder), local.get(host) ?? [], sizes.get(host) ?? []];
    return { happened: isWithEvents(host), versions, diskBytes: bytesIn(folder), localSizes, localVersions };
  });
  return tellApart(runs, service.operatorKey, clearTextIn(profile));
}

const isWithEvents = (host: string): boolean => host.startsWith("1");

/**
 * From the beginning of a window to its end. Returns the sizes of all that each page wrote to localStorage while it
 * could be asked.
 */
async function runPages(
  service: TestService,
  task: string,
  { open, onClosed }: { open: () => Promise<Page[]>; onClosed: () => Promise<void> },
  fault: Fault | undefined,
): Promise<number[][]> {
  await toNextWindow(service, task);
  const options = { server: service.url, task, operatorKey: service.operatorKey };
  const backwards = NAMES.map((name) => [...name].reverse().join(""));
  let pages: Page[] = [];
  let ticks = 0;
  const sizes: number[][] = [];
  const all = <T>(act: (page: Page, i: number) => Promise<T>): Promise<T[]> => Promise.all(pages.map(act));
  const begin = async (): Promise<void> => {
    pages = await open();
    await all((page) =>
      page.evaluate(
        async ([now, chosen, broken]) => {
          counter.now = now;
          await counter.openBroken(chosen, broken);
        },
        [service.clock(), options, fault] as const,
      ),
    );
  };
  const end = async (): Promise<void> => {
    await all(async (page, i) => {
      const { problems, localSizes } = await page.evaluate(() => counter);
      // More events happen than there is room for.
      expect(problems.filter(({ code }) => !["no-keys-left", "events-dropped"].includes(code))).toEqual([]);
      sizes[i] = [...(sizes[i] ?? []), ...localSizes];
      // As people do it: the page gets its events, and localStorage is written to disk.
      await Promise.all([page.waitForEvent("close"), page.close({ runBeforeUnload: true })]);
    });
    await onClosed();
  };
  await begin();
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
      if (++ticks !== CLOSED_IN_TICK) return;
      await end();
      await begin();
    },
  });
  await all((page) => page.evaluate(() => counter.lethe?.close()));
  await end();
  return sizes;
}

/** In keys: the first database, its first store, the records in it. */
const RECORDS = Buffer.of(0, 1, 1, 1);
/** Before the length and the bytes of an array, in a structured clone. */
const ARRAY = Buffer.of(0xff, 0x10, 0x42);

/** Every version that was ever put, put together again: keys end with where a part begins, as a double. */
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
  return versions.map((parts) => recordIn(Buffer.concat(parts)));
}

/** At least one, which the page left when it was closed. */
async function addNewVersions(profile: string, host: string, known: Uint8Array[]): Promise<void> {
  const isKnown = (version: Uint8Array) => known.some((other) => Buffer.compare(version, other) === 0);
  const added = await eventually(async () => {
    const found = localVersionsIn(profile, host).filter((version) => !isKnown(version));
    return found.length > 0 ? found : undefined;
  });
  known.push(...added);
}

/**
 * All of an origin's versions in localStorage that the disk has. Chromium writes every five seconds and when a page is
 * closed, and keeps what is overwritten until it merges tables.
 */
function localVersionsIn(profile: string, host: string): Uint8Array[] {
  const folder = join(profile, "Default", "Local Storage", "leveldb");
  const files = readdirSync(folder).filter((name) => /\.(ldb|log)$/.test(name));
  const puts = files.toSorted().flatMap((name) => {
    try {
      const bytes = readFileSync(join(folder, name));
      return name.endsWith(".log") ? putsIn(bytes) : putsInTable(bytes);
    } catch (error) {
      // It was merged meanwhile, or is not complete yet.
      if (error instanceof RangeError || (error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    }
  });
  return puts
    .filter(({ key }) => key.includes(`//${host}:`) && key.includes(LOCAL_KEY))
    .map(({ value }) => recordIn(Buffer.from(value.subarray(1).toString("latin1"), "base64url")));
}

function recordIn(bytes: Uint8Array): Uint8Array {
  const version = decodeVersion(new Uint8Array(bytes));
  if (!version) throw new Error("not a complete version");
  return version.record;
}
