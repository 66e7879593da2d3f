import { type Cells, COLLECTING, IDLE, type Setting, type State } from "./protocol-cells.ts";
import { type Change, hasShard, increase, type Moment, momentOf, put, type Step } from "./protocol-moment.ts";
import { tallySteps } from "./protocol-tally.ts";

/** Everything that may happen next. */
export function* stepsOf(cells: Cells, setting: Setting, state: State): Iterable<Step> {
  const moment = momentOf(cells, setting, state);
  for (const intake of cells.intakes) yield* intakeSteps(moment, intake);
  for (const tally of cells.tallies) yield* tallySteps(moment, tally);
}

function* intakeSteps(moment: Moment, intake: number): Iterable<Step> {
  const { cells, setting, state, changed, commit } = moment;
  const own = cells.intake(intake);
  const doing = state[own] as number;
  const [name, report] = [`intake ${intake}`, Math.floor((doing - 1) / 2)];
  const rest: Change = put(own, IDLE);
  if (doing === IDLE) {
    for (const [each, home] of setting.reports.entries()) {
      const isAcknowledged = ((state[cells.acknowledged] as number) >> each) & 1;
      if (isAcknowledged || state[cells.cell(home, "window")] !== COLLECTING) continue;
      // A shard that is not there yet takes a share in the lock of the window's row.
      if (!hasShard(cells, state, intake, home) && moment.isLocked(home)) continue;
      yield [`${name} locks a shard for report ${each}`, changed(put(own, 2 * each + 1))];
    }
    return;
  }
  yield [`${name} dies`, changed(rest)];
  if (doing % 2 === 0) {
    const acknowledge: Change = (next) => {
      next[cells.acknowledged] = (next[cells.acknowledged] as number) | (1 << report);
      rest(next);
    };
    yield [`${name} acknowledges report ${report}`, changed(acknowledge)];
    return;
  }
  const home = setting.reports[report] as number;
  const store: Change = (next) => {
    const shards = cells.cell(home, "shards");
    next[shards] = (next[shards] as number) | (1 << intake);
    if (next[cells.report(report, "stored")] === 1) return;
    next[cells.report(report, "stored")] = 1;
    next[cells.report(report, "waiting")] = 1;
    increase(next, cells.cell(home, "inShards"));
  };
  yield* commit(`${name} stores report ${report}`, home, rest, store, put(own, doing + 1));
}
