import { requireWhole } from "../error.ts";
import type { MetricPlan, Question } from "../statistic/question.ts";
import { entryOf } from "../statistic/table.ts";
import { MOST_TICKS } from "../statistic/writes.ts";

/**
 * Answers before anyone deploys: the noise for a guarantee or the guarantee for a noise, and how wrong results will be.
 */
export function planMetric(question: Question): MetricPlan {
  checkQuestion(question);
  return entryOf(question.statistic).plan.plan(question);
}

/** Refuses what cannot be asked, before anything takes long. */
export function checkQuestion(question: Question): void {
  requireWhole("devices", question.devices, 1, 1e9);
  requireWhole("ticks", question.ticks, 1, MOST_TICKS);
  entryOf(question.statistic).plan.check(question);
}

/** How many honest reports there are at least, if this share is missing. */
export function reportingDevices(devices: number, missing: number): number {
  if (!(missing >= 0 && missing < 1)) throw new RangeError(`missing is a share from 0 to below 1, not ${missing}`);
  // A hair more than the product, so that 10 − 10·0.1 is 9; never more than there are.
  return Math.max(1, Math.floor(devices * (1 - missing) * (1 + 1e-12)));
}
