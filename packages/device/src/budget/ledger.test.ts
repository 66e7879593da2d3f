import { type Budget, budgetFor, gaussianCost, pureCost, sumOfCosts } from "@lethe/core/plan";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type Answer, decodeLedger, EMPTY, encodeLedger, isPaid, type Ledger, pay } from "../../dist/budget/ledger.js";
import { encodeVersion } from "../../dist/store/version.js";

const DAY = 86_400;
const answerAt = (day: number, epsilon: number, receipt = `${day}`): Answer => ({
  receipt,
  ends: day * DAY,
  cost: pureCost(epsilon),
});

/** Which of the answers are paid for, one after another, each time from what is stored. */
function paidOf(answers: readonly Answer[], budgets: readonly Budget[]): Answer[] {
  let stored = encodeLedger(EMPTY);
  return answers.filter((answer) => {
    const next = pay(decodeLedger(stored, 0), answer, budgets);
    if (next) stored = encodeLedger(next);
    return next !== undefined;
  });
}

/** What the answers of the dearest period cost, as the ε that it takes. */
function dearest(paid: readonly Answer[], days: number): number {
  const periods = paid.map(({ ends: first }) => paid.filter(({ ends }) => ends >= first && ends < first + days * DAY));
  return Math.max(0, ...periods.map((within) => budgetFor(sumOfCosts(within.map(({ cost }) => cost)))));
}

it("answers every day until the budget is spent, and again when its period is over", () => {
  const days = Array.from({ length: 100 }, (_, day) => answerAt(1000 + day, 1));
  const paid = paidOf(days, [{ epsilon: 5, days: 30 }]).map(({ ends }) => ends / DAY - 1000);
  expect(paid).toEqual([0, 1, 2, 3, 4, 30, 31, 32, 33, 34, 60, 61, 62, 63, 64, 90, 91, 92, 93, 94]);
});

it("a window as long as the period may spend everything", () => {
  const months = Array.from({ length: 5 }, (_, i) => answerAt(1000 + 30 * i, 5));
  expect(paidOf(months, [{ epsilon: 5, days: 30 }])).toHaveLength(5);
});

it("of several budgets all hold", () => {
  const days = Array.from({ length: 60 }, (_, day) => answerAt(1000 + day, 1));
  const both = [
    { epsilon: 5, days: 30 },
    { epsilon: 2, days: 7 },
  ];
  const paid = paidOf(days, both);
  expect(paid.map(({ ends }) => ends / DAY - 1000)).toEqual([0, 1, 7, 8, 14, 30, 31, 37, 38, 44]);
  expect(dearest(paid, 30)).toBeLessThanOrEqual(5);
  expect(dearest(paid, 7)).toBeLessThanOrEqual(2);
});

const someAnswer = fc.record({
  day: fc.oneof(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 2000 }), fc.integer({ min: 0, max: 1e6 })),
  seconds: fc.integer({ min: 0, max: DAY }),
  cost: fc.oneof(
    fc.constantFrom(0.1, 0.5, 1, 2).map(pureCost),
    fc.constantFrom(1, 3, 10).map((sigma) => gaussianCost(sigma)),
  ),
});

it("whatever comes in whatever order, by clocks that jump, no period ever costs more", () => {
  fc.assert(
    fc.property(
      fc.array(someAnswer, { maxLength: 60 }),
      fc.constantFrom(1, 7, 30, 365, 0.5),
      fc.constantFrom(1, 3, 8),
      (found, days, epsilon) => {
        const answers = found.map(({ day, seconds, cost }, i) => ({
          receipt: `${i}`,
          ends: day * DAY + seconds,
          cost,
        }));
        const paid = paidOf(answers, [{ epsilon, days }]);
        expect(dearest(paid, days)).toBeLessThanOrEqual(epsilon);
        // Something is always paid for, unless the first is too dear.
        const [first] = answers;
        if (first && budgetFor(first.cost) <= epsilon) expect(paid).toContain(first);
      },
    ),
    { numRuns: 300 },
  );
});

it("tasks with different budgets each stop at their own, of all that is spent together", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 200 }), fc.boolean()), { maxLength: 80 }), (found) => {
      const strict = { epsilon: 3, days: 20 };
      const lax = { epsilon: 6, days: 50 };
      let ledger: Ledger = EMPTY;
      const paid: Answer[] = [];
      for (const [i, [day, isStrict]] of found.entries()) {
        const answer = answerAt(day, 1, `${i}`);
        const next = pay(ledger, answer, [isStrict ? strict : lax]);
        if (!next) continue;
        paid.push(answer);
        ledger = next;
        if (isStrict)
          expect(
            dearest(
              paid.filter(({ ends }) => Math.abs(ends - answer.ends) < 20 * DAY),
              20,
            ),
          ).toBeLessThanOrEqual(6);
      }
      expect(dearest(paid, 20)).toBeLessThanOrEqual(6);
    }),
    { numRuns: 100 },
  );
});

it("a clock that went back frees nothing, not even what is no longer kept", () => {
  const budgets = [{ epsilon: 1, days: 10 }];
  const forward = paidOf([answerAt(100, 1), answerAt(5000, 1), answerAt(100, 1, "again"), answerAt(105, 1)], budgets);
  expect(forward.map(({ ends }) => ends / DAY)).toEqual([100, 5000]);
  // What was forgotten ended on day 100.
  expect(paidOf([answerAt(100, 1), answerAt(5000, 1), answerAt(110, 1)], budgets)).toHaveLength(3);
});

it("keeps answers for twice the longest period, and a report is known by its receipt as long", () => {
  const budgets = [{ epsilon: 5, days: 10 }];
  let ledger: Ledger = EMPTY;
  for (let day = 0; day < 200; day++) ledger = pay(ledger, answerAt(day, 0.5), budgets) ?? ledger;
  expect(ledger.paid).toHaveLength(20);
  expect(isPaid(ledger, answerAt(190, 0.5))).toBe(true);
  expect(isPaid(ledger, answerAt(170, 0.5))).toBe(false);
  // A longer period than what is kept: until it is known again what was spent in it, nothing is.
  expect(pay(ledger, answerAt(200, 0.5), [{ epsilon: 50, days: 30 }])).toBeUndefined();
  expect(pay(ledger, answerAt(209, 0.5), [{ epsilon: 50, days: 30 }])).toBeDefined();
});

it("never keeps more than 4,096 answers, and refuses where it would have to know more", () => {
  const budgets = [{ epsilon: 100, days: 1 }];
  let ledger: Ledger = { ...EMPTY, keeps: 10 * DAY, paid: Array.from({ length: 4096 }, (_, i) => ["x", i, 0, 0, 0]) };
  ledger = pay(ledger, { receipt: "y", ends: 2 * DAY, cost: pureCost(1) }, budgets) ?? EMPTY;
  expect(ledger.paid).toHaveLength(4096);
  expect(ledger.forgotten).toBe(0);
  expect(pay(ledger, { receipt: "z", ends: DAY / 2, cost: pureCost(1) }, budgets)).toBeUndefined();
});

it("a damaged ledger counts as spent: nothing is paid for until a period has passed", () => {
  const budgets = [{ epsilon: 5, days: 30 }];
  const good = encodeLedger(pay(EMPTY, answerAt(100, 1), budgets) ?? EMPTY);
  for (let at = 0; at < good.length; at++) {
    const bad = good.slice();
    bad[at] = (bad[at] as number) ^ 1;
    for (const bytes of [bad, good.slice(0, at)]) {
      const ledger = decodeLedger(bytes, 101 * DAY);
      expect(pay(ledger, answerAt(130, 1), budgets)).toBeUndefined();
      expect(pay(ledger, answerAt(131, 1), budgets)).toBeDefined();
    }
  }
});

it("a budget with anything but numbers above 0 pays for nothing", () => {
  for (const wrong of [Number.NaN, 0, -1, undefined as unknown as number, null as unknown as number]) {
    expect(pay(EMPTY, answerAt(100, 0.1), [{ epsilon: 5, days: wrong }])).toBeUndefined();
    expect(pay(EMPTY, answerAt(100, 0.1), [{ epsilon: wrong, days: 30 }])).toBeUndefined();
  }
});

it("a period that is too short for doubles still holds its own answer", () => {
  for (const days of [1e-9, 1e-13, 1e-300, Number.MIN_VALUE]) {
    const budgets = [{ epsilon: 1, days }];
    expect(pay(EMPTY, answerAt(20_000, 1.5), budgets)).toBeUndefined();
    expect(paidOf([answerAt(20_000, 1), answerAt(20_000, 1, "again")], budgets)).toHaveLength(1);
  }
});

it.each([
  ["", "no JSON"],
  ["null", "no list"],
  ["[0]", "too short"],
  ["[0,86400,{}]", "without a list of answers"],
  ["[0,86400,[null]]", "with an answer that is none"],
  ['[0,86400,[["a",1,1,0]]]', "with an answer that lacks a part of its cost"],
  ['[0,86400,[["a",1,1,0,"0"]]]', "with a cost that is no number"],
  ['["0",86400,[]]', "with a time that is no number"],
  ["[0,1e400,[]]", "that keeps answers for ever"],
  [`[0,86400,[${Array(4097).fill('["a",1,1,0,0]').join()}]]`, "with more answers than are kept"],
])("a whole ledger of %.40s, %s, counts as spent", (text) => {
  const stored = encodeVersion({ generation: 0, record: new TextEncoder().encode(text) });
  const ledger = decodeLedger(stored, 10 * DAY);
  expect(ledger).toEqual({ ...EMPTY, forgotten: 10 * DAY });
  expect(pay(ledger, answerAt(11, 1), [{ epsilon: 5, days: 7 }])).toBeUndefined();
});
