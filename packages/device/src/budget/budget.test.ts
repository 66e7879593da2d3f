import { LetheError } from "@lethe/core/error";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { decodeLedger } from "../../dist/budget/ledger.js";
import { type LetheOptions, memoryStore, type Store } from "../../dist/index.js";
import {
  type BudgetedDevice,
  type BudgetedService,
  DAILY,
  DAY,
  distinct,
  sharing,
  startBudgetedService,
  untilCounting,
} from "../../test/budgeted.ts";

let budgeted: BudgetedService;
beforeAll(async () => {
  budgeted = await startBudgetedService();
  await budgeted.addTask(DAILY);
  await budgeted.addTask({ ...DAILY, task: "other" });
  await budgeted.addTask({ ...DAILY, task: "limited", budget: { epsilon: 2, days: 10 } });
});
afterAll(() => budgeted.remove());
/** Each test begins in its own window. */
beforeEach(() => {
  budgeted.nextDay();
  budgeted.left.length = 0;
});

const today = (): number => Math.floor(budgeted.service.clock() / 1000 / DAY);
const codesOf = ({ problems }: BudgetedDevice): string[] => problems.map(({ code }) => code);

/** Counts on this number of days in a row; returns on which of them a report left. */
async function live(devices: readonly BudgetedDevice[], days: number): Promise<number[]> {
  const first = today();
  for (let day = 0; day < days; day++) {
    for (const device of devices) await untilCounting(device, budgeted.service);
    budgeted.nextDay();
    for (const { lethe } of devices) await lethe.sendPending();
  }
  return distinct(budgeted.left).map(({ window }) => window - first);
}

/** What a store has of the budget. */
async function ledgerOf(store: Store) {
  let found: Uint8Array | undefined;
  await store.budget?.((stored) => {
    found = stored;
    return undefined;
  }, new AbortController().signal);
  return found && decodeLedger(found, 0);
}

it("a device sends what its budget allows, skips the other windows, and says so", async () => {
  const device = await budgeted.open({ budget: { epsilon: 2, days: 4 } });
  expect(await live([device], 7)).toEqual([0, 1, 4, 5]);
  expect(codesOf(device).filter((code) => code === "budget-spent")).toHaveLength(3);
  expect(device.problems.find(({ code }) => code === "budget-spent")?.message).toMatch(
    /^the report of window \d+ was dropped: it exceeds the budget of ε = 2 in 4 days$/,
  );
  expect(codesOf(device).filter((code) => !["budget-spent", "no-keys-left"].includes(code))).toEqual([]);
  await device.lethe.close();
});

it("a task's own budget holds without the application's, and the stricter one of both with it", async () => {
  const alone = await budgeted.open({ task: "limited" });
  expect(await live([alone], 3)).toEqual([0, 1]);
  await alone.lethe.close();
  budgeted.left.length = 0;
  const stricter = await budgeted.open({ task: "limited", budget: { epsilon: 1, days: 30 } });
  expect(await live([stricter], 2)).toEqual([0]);
  await stricter.lethe.close();
  budgeted.left.length = 0;
  const laxer = await budgeted.open({ task: "limited", budget: { epsilon: 50, days: 30 } });
  expect(await live([laxer], 3)).toEqual([0, 1]);
  await laxer.lethe.close();
});

it("tasks that share a place pay from one budget", async () => {
  const store = memoryStore();
  const budget = { epsilon: 3, days: 30 };
  const devices = await Promise.all([
    budgeted.open({ budget, store }),
    budgeted.open({ budget, store: sharing(store), task: "other" }),
    budgeted.open({ budget, store: sharing(store), task: "limited" }),
  ]);
  expect(await live(devices, 2)).toHaveLength(3);
  // The third task's own budget is 2, of all that is spent here.
  expect(distinct(budgeted.left).map(({ task }) => task)).toEqual(["daily", "other", "daily"]);
  for (const { lethe } of devices) await lethe.close();
});

it("a report that is sent again is paid for once, also after a restart", async () => {
  const store = memoryStore();
  const options = { budget: { epsilon: 1, days: 30 }, store };
  let failing = true;
  const fetchOrFail: typeof fetch = async (input, init) => {
    const answer = await budgeted.watched(input, init);
    if (init?.method === "PUT" && failing) throw new TypeError("the answer is lost");
    return answer;
  };
  const device = await budgeted.open({ ...options, fetch: fetchOrFail });
  await live([device], 1);
  await device.lethe.sendPending();
  await device.lethe.close();
  failing = false;
  const again = await budgeted.open({ ...options, fetch: fetchOrFail });
  await again.lethe.sendPending();
  expect(budgeted.left.length).toBeGreaterThanOrEqual(3);
  expect(distinct(budgeted.left)).toHaveLength(1);
  expect((await ledgerOf(store))?.paid).toHaveLength(1);
  expect(codesOf(again)).not.toContain("budget-spent");
  await again.lethe.close();
});

it("what was spent stays when consent is withdrawn, and a second report of one window is paid for again", async () => {
  const store = memoryStore();
  const device = await budgeted.open({ budget: { epsilon: 2, days: 30 }, store });
  await untilCounting(device, budgeted.service);
  await device.lethe.setConsent(false);
  await device.lethe.setConsent(true);
  await live([device], 1);
  await device.lethe.setConsent(false);
  expect(await store.load()).toBeUndefined();
  expect((await ledgerOf(store))?.paid).toHaveLength(1);
  await device.lethe.setConsent(true);
  await live([device], 2);
  expect(distinct(budgeted.left)).toHaveLength(2);
  expect(codesOf(device)).toContain("budget-spent");
  await device.lethe.close();
});

it("nothing leaves while the budget cannot be stored, and it leaves once it can", async () => {
  const inner = memoryStore();
  let isBroken = true;
  const store: Store = {
    ...inner,
    budget: async (change, signal) => {
      if (isBroken) throw new LetheError("bad-store", "the disk is full");
      await inner.budget?.(change, signal);
    },
  };
  const device = await budgeted.open({ budget: { epsilon: 1, days: 30 }, store });
  expect(await live([device], 1)).toEqual([]);
  expect(codesOf(device)).toContain("bad-store");
  isBroken = false;
  await device.lethe.sendPending();
  expect(budgeted.left).toHaveLength(1);
  await device.lethe.close();
});

it("where a store has no place for a budget, nothing of a task with a budget leaves", async () => {
  const { budget: _, ...store } = memoryStore();
  const device = await budgeted.open({ budget: { epsilon: 5, days: 30 }, store });
  expect(await live([device], 1)).toEqual([]);
  expect(device.problems.find(({ code }) => code === "bad-store")?.message).toContain("keeps no budget");
  await device.lethe.close();
});

it("a damaged budget stops the device for a period", async () => {
  const store = memoryStore();
  const device = await budgeted.open({ budget: { epsilon: 5, days: 2 }, store });
  await live([device], 1);
  await store.budget?.(() => new TextEncoder().encode("not a ledger"), new AbortController().signal);
  budgeted.left.length = 0;
  expect(await live([device], 3)).toEqual([2]);
  await device.lethe.close();
});

it("what is stored depends on times and tasks, not on events", async () => {
  const stores = [memoryStore(), memoryStore()];
  const devices = await Promise.all(stores.map((store) => budgeted.open({ budget: { epsilon: 2, days: 30 }, store })));
  for (const [i, device] of devices.entries()) {
    await untilCounting(device, budgeted.service);
    if (i === 1) for (let event = 0; event < 10; event++) device.lethe.record("happened");
  }
  await live(devices, 2);
  const [one, two] = await Promise.all(stores.map(ledgerOf));
  // But for the random names of reports, which have one length.
  const plain = one?.paid.map(([receipt, ...rest]) => [receipt.length, ...rest]);
  expect(plain).toEqual(two?.paid.map(([receipt, ...rest]) => [receipt.length, ...rest]));
  expect(plain).toHaveLength(2);
  for (const { lethe } of devices) await lethe.close();
});

it("a wrong budget is refused when the SDK opens", async () => {
  for (const budget of [{}, { epsilon: 5 }, { days: 30 }, { epsilon: 0, days: 30 }, { epsilon: 5, days: Number.NaN }]) {
    const opening = budgeted.open({ budget: budget as LetheOptions["budget"] & object });
    await expect(opening).rejects.toThrow("the option budget is { epsilon, days }");
  }
  await expect(budgeted.open({ budget: 5 as never })).rejects.toThrow("the option budget is a object");
});
