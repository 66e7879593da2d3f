/// <reference lib="dom" />
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { bundle, chromiumPath, launch, PATIENCE_MS, type Site, servePage } from "../../test/browser.ts";
import type {} from "../../test/browser-store.ts";

/** The plain close of the harness may end the process before its handlers have run. */
async function closeAsPeopleDo(page: Page): Promise<void> {
  await Promise.all([page.waitForEvent("close"), page.close({ runBeforeUnload: true })]);
}

describe.skipIf(!chromiumPath)("the store of browsers", () => {
  let browser: Browser;
  let site: Site;
  let context: BrowserContext;

  beforeAll(async () => {
    const script = await bundle(new URL("../../test/browser-store.ts", import.meta.url));
    site = await servePage(`<!doctype html><script type="module" src="tab.js"></script>`, { "tab.js": script });
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    site?.close();
  });
  beforeEach(async () => {
    context = await browser.newContext();
  });
  afterEach(() => context.close());

  async function openTab(): Promise<Page> {
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    await page.goto(site.url);
    return page;
  }

  const load = (page: Page): Promise<number[] | undefined> =>
    page.evaluate(async () => {
      const record = await lethe.tab.store.load();
      return record && [...record];
    });
  const save = (page: Page, record: number[], durable: boolean): Promise<void> =>
    page.evaluate(([bytes, how]) => lethe.tab.store.save(Uint8Array.from(bytes), { durable: how }), [
      record,
      durable,
    ] as const);

  it("a record is there after a reload, until it is wiped", async () => {
    const page = await openTab();
    expect(await load(page)).toBeUndefined();
    await save(page, [1, 2, 3], false);
    await page.reload();
    expect(await load(page)).toEqual([1, 2, 3]);
    await save(page, [4, 5], true);
    await page.reload();
    expect(await load(page)).toEqual([4, 5]);
    await page.evaluate(() => lethe.tab.store.wipe());
    await page.reload();
    expect(await load(page)).toBeUndefined();
  });

  it("a record of any length is replaced as a whole", async () => {
    const page = await openTab();
    for (const length of [100_000, 32_768, 32_769, 1]) {
      const record = Array.from({ length }, (_, i) => (i * i + length) % 251);
      await save(page, record, false);
      expect(await load(page)).toEqual(record);
    }
  });

  it("of a view, only its own bytes are stored", async () => {
    const page = await openTab();
    await page.evaluate(() => lethe.tab.store.save(Uint8Array.of(1, 2, 3, 4).subarray(1, 3), { durable: false }));
    const stored = await page.evaluate(
      () =>
        new Promise<number[]>((resolve) => {
          const opening = indexedDB.open("lethe");
          opening.onsuccess = () => {
            const reading = opening.result.transaction("records").objectStore("records").getAll();
            reading.onsuccess = () => resolve(reading.result.map(({ buffer }) => buffer.byteLength));
          };
        }),
    );
    // With the check, the generation and the length before them.
    expect(stored).toEqual([34]);
  });

  it("saves take effect in the order of their calls, the first of them before the database is open", async () => {
    const page = await openTab();
    const last = await page.evaluate(async () => {
      const { store } = lethe.tab;
      const saves = Array.from({ length: 50 }, (_, i) => store.save(Uint8Array.of(i), { durable: i % 7 === 0 }));
      await saves[0];
      saves.push(store.save(Uint8Array.of(50), { durable: false }));
      await Promise.all(saves);
      return (await store.load())?.[0];
    });
    expect(last).toBe(50);
  });

  it("one tab holds the lock; the other gets it when it is released, or when the tab is closed", async () => {
    const [one, two] = [await openTab(), await openTab()];
    const lock = (page: Page): Promise<boolean> =>
      page.evaluate(async () => {
        const release = await lethe.tab.store.lock(AbortSignal.timeout(300));
        globalThis.addEventListener("message", () => release?.(), { once: true });
        return release !== undefined;
      });
    expect(await lock(one)).toBe(true);
    expect(await lock(two)).toBe(false);
    await one.evaluate(() => globalThis.postMessage("release"));
    expect(await lock(two)).toBe(true);
    expect(await lock(one)).toBe(false);
    await two.close();
    expect(await lock(one)).toBe(true);
  });

  it("nobody gets a lock by a signal that was aborted before", async () => {
    const page = await openTab();
    expect(await page.evaluate(() => lethe.tab.store.lock(AbortSignal.abort()))).toBeUndefined();
  });

  it("a write that begins when a page is hidden survives its end", async () => {
    for (let round = 1; round <= 4; round++) {
      const closing = await openTab();
      await closing.evaluate(async (byte) => {
        const { store } = lethe.tab;
        await store.load();
        // Like ciphertexts, nothing that could be compressed; and much of it.
        const record = new Uint8Array(300_000);
        for (let at = 0; at < record.length; at += 60_000) crypto.getRandomValues(record.subarray(at, at + 60_000));
        // Nobody counts before the enrolment is stored: no database is made while its page closes.
        await store.save(record.fill(0, 0, 1), { durable: false });
        record[0] = byte;
        addEventListener("pagehide", () => void store.save(record, { durable: false }));
      }, round);
      if (round % 2) await closeAsPeopleDo(closing);
      else await closing.goto("about:blank");
      const next = await openTab();
      const found = (): Promise<unknown> =>
        next.evaluate(async () => {
          const record = await lethe.tab.store.load();
          return [record?.length, record?.[0]];
        });
      // The two pages are two processes: the next may ask before what the first has sent is there.
      await expect.poll(found, { timeout: 120_000 }).toEqual([300_000, round]);
    }
  });

  it("of 400 events none is lost or counted twice while tabs close and others take over", async () => {
    const [events, emitters] = [400, 4];
    const tabs: Page[] = [];
    for (let i = 0; i < 3 + emitters; i++) {
      const page = await openTab();
      void page.evaluate((all) => lethe.tab.write(all), events).catch(() => {});
      tabs.push(page);
    }
    const isWriter = (page: Page | undefined) => page?.waitForFunction(() => lethe.tab.isWriter);
    await isWriter(tabs[0]);
    const each = events / emitters;
    const emitted = tabs
      .slice(-emitters)
      .map((page, i) => page.evaluate(([first, all]) => lethe.tab.emit(first, all), [i * each, each] as const));
    // Those that emit nothing are the first in the queue for the lock. They close amid the events of the others.
    for (let i = 0; i < 3; i++) {
      await isWriter(tabs[i]);
      await tabs[i]?.close();
    }
    await Promise.all(emitted);
    // An event that was never acknowledged goes to the next writer, in the end to the tab that sent it.
    for (const page of tabs.slice(3)) {
      await isWriter(page);
      await closeAsPeopleDo(page);
    }
    const counts = await load(await openTab());
    expect(counts).toEqual(Array.from({ length: events }, () => 1));
  });

  it("another version can upgrade the database, and this one goes on", async () => {
    const [old, young] = [await openTab(), await openTab()];
    await save(old, [1], false);
    const found = await young.evaluate(
      () =>
        new Promise<string>((resolve) => {
          const request = indexedDB.open("lethe", 2);
          request.onblocked = () => resolve("blocked");
          request.onupgradeneeded = () => request.result.createObjectStore("more");
          request.onsuccess = () => {
            resolve([...request.result.objectStoreNames].join());
            request.result.close();
          };
        }),
    );
    expect(found).toBe("more,records");
    await save(old, [2], false);
    expect(await load(young)).toEqual([2]);
  });

  it("a database that was deleted meanwhile is created again", async () => {
    const page = await openTab();
    await save(page, [1], false);
    const outcome = await page.evaluate(
      () =>
        new Promise<string>((resolve) => {
          const request = indexedDB.deleteDatabase("lethe");
          request.onblocked = () => resolve("blocked");
          request.onsuccess = () => resolve("deleted");
        }),
    );
    expect(outcome).toBe("deleted");
    expect(await load(page)).toBeUndefined();
    await save(page, [2], false);
    expect(await load(page)).toEqual([2]);
  });

  it("where the browser stores nothing, each call says so", async () => {
    const page = await openTab();
    const codes = await page.evaluate(async () => {
      const codeOf = (call: Promise<unknown>) =>
        call.then(
          () => "none",
          ({ code }) => code,
        );
      Object.defineProperty(globalThis, "indexedDB", { value: undefined });
      Object.defineProperty(navigator, "locks", { value: undefined });
      const { store } = lethe.tab;
      const { signal } = new AbortController();
      const record = new Uint8Array(1);
      const calls = [store.lock(signal), store.load(), store.save(record, { durable: true }), store.wipe()];
      return Promise.all([...calls, store.close()].map(codeOf));
    });
    expect(codes).toEqual(["bad-store", "bad-store", "bad-store", "bad-store", "none"]);
  });

  it("a full disk is reported", async () => {
    const page = await openTab();
    const devtools = await context.newCDPSession(page);
    await devtools.send("Storage.overrideQuotaForOrigin", { origin: new URL(site.url).origin, quotaSize: 1 });
    const problem = await page.evaluate(() =>
      lethe.tab.store.save(new Uint8Array(100_000), { durable: true }).then(
        () => "none",
        ({ code, cause }) => [code, cause.name],
      ),
    );
    expect(problem).toEqual(["bad-store", "QuotaExceededError"]);
    expect(await load(page)).toBeUndefined();
  });
});
