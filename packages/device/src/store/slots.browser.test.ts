/// <reference lib="dom" />
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { bundle, type Site, servePage } from "../../test/browser.ts";
import type {} from "../../test/browser-store.ts";
import { ENGINES } from "../../test/engines.ts";
import type { RunningBrowser, Tab } from "../../test/tab.ts";

let site: Site;
beforeAll(async () => {
  const script = await bundle(new URL("../../test/browser-store.ts", import.meta.url));
  site = await servePage(`<!doctype html><script type="module" src="tab.js"></script>`, { "tab.js": script });
});
afterAll(() => site?.close());

for (const { name, isInstalled, launch } of ENGINES) {
  describe.skipIf(!isInstalled)(`the store of browsers, in ${name}`, () => {
    let browser: RunningBrowser;
    let tab: Tab;
    beforeAll(async () => {
      browser = await launch();
      tab = await browser.openTab();
    });
    afterAll(() => browser?.close());
    beforeEach(async () => {
      await tab.goto(site.url);
      await tab.evaluate(() => lethe.tab.store.wipe());
    });

    const load = () => tab.evaluate(() => lethe.records.load());
    const save = (version: number, how: { durable?: boolean; leaving?: boolean; length?: number } = {}) =>
      tab.evaluate((which, chosen) => lethe.records.save(which, chosen), version, how);
    const keys = () => tab.evaluate(() => lethe.records.keys());

    it("of a slot that is damaged in any way nothing is loaded, but the version before it, and saves go on", async () => {
      const damages: readonly (() => Promise<unknown>)[] = [
        // Cut off: the last part never came.
        () => tab.evaluate(() => lethe.records.remove(["test", "1", 65_536])),
        // Empty: the first part never came.
        () => tab.evaluate(() => lethe.records.remove(["test", "1", 0])),
        // Parts of two versions.
        () =>
          tab.evaluate(async () => {
            await lethe.records.put(["test", "1", 32_768], await lethe.records.get(["test", "0", 32_768]));
          }),
        // One bit.
        () =>
          tab.evaluate(async () => {
            const [first = 0, ...others] = await lethe.records.get(["test", "1", 65_536]);
            await lethe.records.put(["test", "1", 65_536], [first ^ 1, ...others]);
          }),
      ];
      for (const damage of damages) {
        await tab.evaluate(() => lethe.tab.store.wipe());
        await save(1);
        await save(2);
        expect(await load()).toBe(2);
        await damage();
        expect(await load()).toBe(1);
        await save(3);
        expect(await load()).toBe(3);
        // Into the damaged slot: the version before is still there.
        await tab.evaluate(() => lethe.records.remove(["test", "1", 0]));
        expect(await load()).toBe(1);
      }
    });

    it("a save deletes nothing, and puts only where the newest version is not", async () => {
      await save(1);
      const [deleted, written] = await tab.evaluate(async () => {
        const { prototype } = IDBObjectStore;
        const { put, delete: remove } = prototype;
        let deletions = 0;
        const slots: unknown[] = [];
        prototype.delete = function (...args) {
          deletions++;
          return remove.apply(this, args);
        };
        prototype.put = function (value, key) {
          if (Array.isArray(key) && key[2] === 0) slots.push(key[1]);
          return put.call(this, value, key);
        };
        for (let version = 2; version < 6; version++) {
          await lethe.records.load();
          await lethe.records.save(version, { leaving: version === 4 });
        }
        Object.assign(prototype, { put, delete: remove });
        return [deletions, slots.join()] as const;
      });
      expect([deleted, written]).toEqual([0, "1,0,1,0"]);
      expect(await load()).toBe(5);
    });

    it("of saves that nobody waited for the last is loaded, also if records got shorter, and without localStorage", async () => {
      await save(1);
      for (const durable of [false, true]) {
        for (const lengths of [
          [70_000, 70_000, 10],
          [70_000, 10, 40_000, 10],
          [10, 70_000],
        ]) {
          await tab.evaluate(
            async (all, isDurable) => {
              await Promise.all(
                all.map((length, i) =>
                  lethe.records.save(2 + i, { length, durable: isDurable && i === all.length - 1 }),
                ),
              );
              localStorage.clear();
            },
            lengths,
            durable,
          );
          expect(await load()).toBe(1 + lengths.length);
        }
      }
    });

    it("what is saved when a page is left is found by the next one", async () => {
      await save(1);
      for (const [version, leave] of [
        [2, () => tab.reload()],
        [3, () => tab.goto(`${site.url}other`)],
        [4, () => tab.goto(site.url)],
      ] as const) {
        await tab.evaluate(async (which) => {
          await lethe.records.load();
          lethe.records.saveOnLeaving(which);
        }, version);
        await leave();
        await expect.poll(load, { timeout: 120_000 }).toBe(version);
      }
      await save(5);
      expect(await load()).toBe(5);
    });

    it("without localStorage, the version before a page was left stays at least", async () => {
      await save(1);
      await save(2);
      await tab.evaluate(() => {
        Object.defineProperty(globalThis, "localStorage", {
          get: () => {
            throw new DOMException("blocked", "SecurityError");
          },
        });
        lethe.records.saveOnLeaving(3);
      });
      await tab.reload();
      expect([2, 3]).toContain(await load());
      await save(4);
      expect(await load()).toBe(4);
    });

    it("the newest version is loaded, wherever it is", async () => {
      await save(1, { leaving: true });
      await save(2);
      expect(await load()).toBe(2);
      await tab.reload();
      expect(await load()).toBe(2);
      await save(3, { leaving: true });
      for (const key of await keys()) await tab.evaluate((which) => lethe.records.remove(which), key);
      expect(await load()).toBe(3);
      // And generations go on from there.
      await save(4);
      expect(await load()).toBe(4);
      await tab.evaluate(() => localStorage.setItem("lethe:test", "AAAA"));
      expect(await load()).toBe(4);
    });

    it("after a durable save nothing older can be loaded", async () => {
      await save(1, { leaving: true });
      await save(2);
      await save(3, { durable: true });
      expect(await load()).toBe(3);
      const rows = await keys();
      for (const key of rows.slice(0, 3)) await tab.evaluate((which) => lethe.records.remove(which), key);
      expect(await load()).toBe(3);
      for (const key of rows.slice(3)) await tab.evaluate((which) => lethe.records.remove(which), key);
      expect(await load()).toBe(3);
    });

    it("what an earlier version of the SDK stored is loaded, and removed after the first save", async () => {
      await tab.evaluate(() => lethe.records.putOld(1));
      expect(await load()).toBe(1);
      expect(await load()).toBe(1);
      await save(2);
      expect(await keys()).toEqual([0, 32_768, 65_536].map((at) => ["test", "0", at]));
      expect(await load()).toBe(2);
    });

    it("a wipe leaves nothing", async () => {
      await tab.evaluate(() => lethe.records.putOld(1));
      await save(2, { leaving: true });
      await save(3, { durable: true });
      await tab.evaluate(() => lethe.tab.store.wipe());
      expect([await keys(), await tab.evaluate(() => localStorage.length)]).toEqual([[], 0]);
      expect(await load()).toBeNull();
      await tab.reload();
      expect(await load()).toBeNull();
    });
  });
}
