import type { Model } from "./explore.ts";
import {
  CLOSING,
  cellsOf,
  DATABASES,
  DESTROYED,
  ENDED,
  FIRST,
  IDLE,
  NONE,
  type Setting,
  type State,
} from "./protocol-cells.ts";
import { stepsOf } from "./protocol-steps.ts";
import { LOST, NOTHING, RELEASED, TWICE, WITHHELD } from "./protocol-tally.ts";

/**
 * A window with a part in each of two databases, as docs/data-model.md describes it: the transactions of intakes and
 * tallies as steps, in any order. A process may die between any two steps, and a database loses what only its primary
 * has when a standby takes over. `explore` visits all states, also with mistakes that the service must not make.
 */
export function protocolModel(setting: Setting): Model {
  const cells = cellsOf(setting);
  const { start, cell, stored } = cells;

  function* takeOver(state: State): Iterable<readonly [string, State]> {
    // Nothing is lost unless a commit was cancelled, so there is nothing to see otherwise.
    for (const database of setting.cancelled > 0 ? DATABASES : []) {
      const own = cells.inDatabase(database);
      if (own.every((at) => state[at] === state[stored + at])) continue;
      const next = [...state];
      for (const at of own) next[at] = next[stored + at] as number;
      for (const intake of cells.intakes)
        if (cells.holdsShard(state, intake, database)) next[cells.intake(intake)] = IDLE;
      for (const tally of cells.tallies)
        if (state[cells.tally(tally)] === CLOSING + database) next[cells.tally(tally)] = IDLE;
      yield [`a standby of database ${database} takes over`, next];
    }
  }

  return {
    start,
    next: function* (state) {
      yield* stepsOf(cells, setting, state);
      yield* takeOver(state);
    },
    wrong: (state) => {
      if (cells.reports.some((report) => (state[cells.report(report, "counted")] as number) > 1)) {
        return "a report is counted twice";
      }
      const isSafe = state[stored + cell(FIRST, "window")] === ENDED;
      if (state[cells.secret] === DESTROYED && !isSafe) return "the secret is destroyed, and the release may be lost";
      const acknowledged = cells.reports.filter((report) => (state[cells.acknowledged] as number) & (1 << report));
      return wrongRelease(state[cell(FIRST, "published")] as number, acknowledged, cells.reports);
    },
    isGoal: (state) =>
      state[cell(FIRST, "window")] === ENDED &&
      state[cells.secret] === DESTROYED &&
      DATABASES.every((each) => state[cell(each, "erased")] === 1 || state[cell(each, "window")] === NONE),
  };
}

function wrongRelease(
  published: number,
  acknowledged: readonly number[],
  reports: readonly number[],
): string | undefined {
  if (published === NOTHING || published === LOST) return undefined;
  if (published >= TWICE) return "there are two releases";
  if (published < RELEASED) {
    const isMore = acknowledged.length > published - WITHHELD;
    return isMore ? "more reports are acknowledged than the number that is published" : undefined;
  }
  const times = (report: number): number => Math.floor((published - RELEASED) / 3 ** report) % 3;
  if (acknowledged.some((report) => times(report) === 0)) return "a report is acknowledged, and not in the release";
  return reports.some((report) => times(report) > 1) ? "a report is in the release twice" : undefined;
}
