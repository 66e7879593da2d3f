import { type Budget, type Cost, isWithinBudget, sumOfCosts } from "@lethe/core/device/budget";
import { decodeVersion, encodeVersion } from "../store/version.ts";

/**
 * An answer that was paid for: the random name of its report, when its window ended, as Unix time in seconds, and what
 * it cost. The end of a window is the same on every clock, so no clock that is wrong moves an answer.
 */
type Paid = readonly [receipt: string, ends: number, ...cost: Cost];

/** What a device has spent: on every answer, or, up to a time, on answers that it no longer knows. */
export interface Ledger {
  /** All answers that it does not know ended at this time at the latest. */
  readonly forgotten: number;
  /** How long answers are kept, in seconds. */
  readonly keeps: number;
  readonly paid: readonly Paid[];
}

/** Nothing spent. */
export const EMPTY: Ledger = { forgotten: Number.NEGATIVE_INFINITY, keeps: 0, paid: [] };

const DAY = 86_400;
/** Of an answer that was paid for: its receipt, its end, and three parts of its cost. */
const PAID_FIELDS = 5;
/** More answers are not kept, so that the record stays below 300 kB. */
const MOST_PAID = 4096;

/** An answer that is to be paid for. */
export interface Answer {
  readonly receipt: string;
  readonly ends: number;
  readonly cost: Cost;
}

/** Whether this answer was paid for before. */
export function isPaid({ paid }: Ledger, { receipt }: Answer): boolean {
  return paid.some(([known]) => known === receipt);
}

/**
 * The ledger with one more answer. Undefined if the answers in some period of a budget's length would cost more than
 * the budget: those whose windows end in it, its end excluded. Also undefined if answers of such a period may be
 * forgotten.
 */
export function pay(ledger: Ledger, { receipt, ends, cost }: Answer, budgets: readonly Budget[]): Ledger | undefined {
  const paid: Paid[] = [...ledger.paid, [receipt, ends, ...cost]];
  const periods = budgets.map(({ days }) => days * DAY);
  const isAffordable = budgets.every(({ epsilon }, i) => {
    const period = periods[i] as number;
    // Written so that NaN is refused.
    if (!(period > 0 && ends - ledger.forgotten >= period)) return false;
    // Differences of whole seconds are exact: an answer is in its own period, however short that is.
    // Every period with the new answer in it costs no more than one that begins with an answer.
    const begins = paid.map(([, first]) => first).filter((first) => first <= ends && ends - first < period);
    return begins.every((first) => {
      const within = paid.filter(([, time]) => time >= first && time - first < period);
      return isWithinBudget(epsilon, sumOfCosts(within.map(([, , ...each]) => each)));
    });
  });
  return isAffordable
    ? forget({ ...ledger, keeps: Math.max(ledger.keeps, ...periods.map((s) => 2 * s)), paid })
    : undefined;
}

/** Without what is older than any budget asks for, by the newest answer: twice as long, for windows that are late. */
function forget({ forgotten, keeps, paid }: Ledger): Ledger {
  const sorted = paid.toSorted(([, a], [, b]) => a - b);
  const newest = sorted.at(-1)?.[1] ?? 0;
  const kept = sorted.filter(([, ends]) => newest - ends < keeps).slice(-MOST_PAID);
  const last = sorted[sorted.length - kept.length - 1];
  return { forgotten: Math.max(forgotten, last?.[1] ?? Number.NEGATIVE_INFINITY), keeps, paid: kept };
}

/** With a check over all of it. Depends on times and tasks only. */
export function encodeLedger({ forgotten, keeps, paid }: Ledger): Uint8Array {
  const text = JSON.stringify([Number.isFinite(forgotten) ? forgotten : null, keeps, paid]);
  return encodeVersion({ generation: 0, record: new TextEncoder().encode(text) });
}

/**
 * Its inverse. If it is damaged, everything up to `latest` may have been spent: then no answer is paid for until a
 * budget's period has passed.
 */
export function decodeLedger(stored: Uint8Array, latest: number): Ledger {
  const version = decodeVersion(stored);
  if (!version) return { ...EMPTY, forgotten: latest };
  try {
    const [forgotten, keeps, paid] = JSON.parse(new TextDecoder().decode(version.record)) as unknown[];
    if (isTime(forgotten ?? 0) && isTime(keeps) && isList(paid)) {
      return { forgotten: (forgotten as number | null) ?? Number.NEGATIVE_INFINITY, keeps, paid };
    }
  } catch {
    // Damaged as well, if by a program: the check shows only that it was written as a whole.
  }
  return { ...EMPTY, forgotten: latest };
}

const isTime = (value: unknown): value is number => Number.isFinite(value);

/** As long as `forget` leaves it: what adds up the answers takes the square of their number. */
const isList = (paid: unknown): paid is Paid[] =>
  Array.isArray(paid) && paid.length <= MOST_PAID && paid.every(isPayment);

function isPayment(found: unknown): found is Paid {
  if (!Array.isArray(found) || found.length !== PAID_FIELDS) return false;
  const [receipt, ...numbers] = found as unknown[];
  return typeof receipt === "string" && numbers.every(isTime);
}
