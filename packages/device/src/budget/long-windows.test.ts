import { expect, it } from "vitest";
import { charge } from "../../dist/budget/budget.js";
import { memoryStore } from "../../dist/index.js";

const DAY = 86_400_000;
/** An operator's tasks, each asked for once at a cost of ε₀ = 1: when their windows begin and end, in days. */
type Asked = readonly [begins: number, ends: number];

/** In which of these windows a device answers that has ε = 2 in 30 days, in the order of their ends. */
async function answered(asked: readonly Asked[], days = 30): Promise<Asked[]> {
  const store = memoryStore();
  const found: Asked[] = [];
  for (const [i, [begins, ends]] of asked.entries()) {
    const state = {
      store,
      clock: () => ends * DAY,
      signal: new AbortController().signal,
      budget: { epsilon: 2, days },
    };
    const window = {
      begins: begins * DAY,
      ends: ends * DAY,
      known: { manifest: { metrics: [{ name: "a", statistic: "occurrence", localEpsilon: 1 }] } },
      stored: () => ({ publicKeys: Uint8Array.of(i), device: new Uint8Array(16) }),
    };
    const isPaid = await charge(state as never, window as never).then(
      () => true,
      ({ code }: { code: string }) => {
        expect(code).toBe("budget-spent");
        return false;
      },
    );
    if (isPaid) found.push([begins, ends]);
  }
  return found;
}

it("an event is never in answers that cost more than the budget, however long windows are and when they end", async () => {
  // All of them run on day 20,000: windows of a year that end a month apart, and short ones.
  const year = Array.from({ length: 12 }, (_, i): Asked => [19_999 - 365 + 31 * i, 19_999 + 31 * i]).slice(1);
  expect(await answered(year)).toHaveLength(2);
  const mixed: Asked[] = [
    [20_000, 20_001],
    [19_990, 20_040],
    [19_900, 20_100],
    [19_800, 20_300],
  ];
  expect(await answered(mixed)).toHaveLength(2);
});

it("windows that follow one another, each as long as the period or longer, all get their answer", async () => {
  const weeks = Array.from({ length: 10 }, (_, i): Asked => [20_000 + 7 * i, 20_007 + 7 * i]);
  expect(await answered(weeks, 7)).toHaveLength(10);
  expect(await answered(weeks, 1)).toHaveLength(10);
});
