/**
 * Keeps a device within its budgets. `charge` is called before a report is sent for the first time, and before every
 * retry; ledger.ts adds up what answers cost, and decides; origin.ts keeps the ledger in browsers. Loaded on demand,
 * where the application or the task sets a budget. Start reading here.
 */
import { encodeBase64url, LetheError } from "@lethe/core/device";
import { answerCostOf } from "@lethe/core/device/budget";
import type { WriterState } from "../writer/state.ts";
import type { DeviceWindow } from "../writer/window.ts";
import { decodeLedger, EMPTY, encodeLedger, isPaid, pay } from "./ledger.ts";
import { originBudget } from "./origin.ts";

const DAY_MS = 86_400_000;

/**
 * Resolves when the report of a window is paid for, and the disk has that; each report is paid for once. Rejects with
 * `budget-spent` if the report costs more than is left, which no later time would change. The period of a budget is at
 * least as long as the window. What it decides and stores depends on times and tasks only.
 */
export async function charge(state: WriterState, window: DeviceWindow): Promise<void> {
  const { store, clock, signal } = state;
  const { manifest } = window.known;
  const budgets = [state.budget, manifest.budget].filter((budget) => budget !== undefined);
  // An event is in all windows that run when it happens: long ones must not spend a budget each, one period apart.
  const long = (window.ends - window.begins) / DAY_MS;
  const periods = budgets.map(({ epsilon, days }) => ({ epsilon, days: Math.max(days, long) }));
  const { publicKeys: receipt, device } = window.stored(0);
  const answer = {
    receipt: encodeBase64url(receipt.length > 0 ? receipt : device),
    ends: window.ends / 1000,
    cost: answerCostOf(manifest.metrics),
  };
  let isSpent = false;
  const update: typeof originBudget = store.budget?.bind(store) ?? originBudget;
  await update((stored) => {
    const ledger = stored ? decodeLedger(stored, Math.max(answer.ends, clock() / 1000)) : EMPTY;
    if (isPaid(ledger, answer)) return undefined;
    const next = pay(ledger, answer, periods);
    isSpent = !next;
    // Also if it was damaged: the time without answers begins now.
    return encodeLedger(next ?? ledger);
  }, signal);
  if (isSpent) {
    const words = budgets.map(({ epsilon, days }) => `ε = ${epsilon} in ${days} days`);
    throw new LetheError("budget-spent", `it exceeds the budget of ${words.join(", or of ")}`);
  }
}
