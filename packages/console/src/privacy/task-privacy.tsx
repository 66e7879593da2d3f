import type { Task } from "@lethe/core/message";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { DataTable } from "../chart/figure.tsx";
import type { WindowCost } from "../planner/task-jobs.ts";
import { usePlanned } from "../planner/use-planned.ts";
import { ThreeFigures } from "../price/three-figures.tsx";
import { Failure, Loading } from "../shell/states.tsx";
import { BudgetSection, Changes } from "./changes.tsx";
import { cellsOf } from "./period-cells.ts";

/** What one device pays for a task. */
export function TaskPrivacy({ server, task, now }: { server: string; task: string; now: number }): JSX.Element {
  const [tries, setTries] = useState(0);
  const { value, failure } = usePlanned("windowCost", { server, task, ...(tries > 0 && { tries }) });
  if (failure) return <Failure failure={failure} again={() => setTries(tries + 1)} />;
  if (!value) return <Loading what={`the price of ${task}`} />;
  return (
    <>
      <section aria-label="This window">
        <h2>This window</h2>
        <ThreeFigures task={value.manifest} plan={value.plan} />
      </section>
      <Periods {...value} now={now} />
      <Changes task={value.manifest} />
    </>
  );
}

/** The reader's calendar: when this month and this year began, in Unix seconds. */
function beginnings(now: number): readonly [month: number, year: number] {
  const date = new Date(1000 * now);
  const [year, month] = [date.getFullYear(), date.getMonth()];
  return [new Date(year, month, 1).getTime() / 1000, new Date(year, 0, 1).getTime() / 1000];
}

function Periods({ manifest, now }: WindowCost & { now: number }): JSX.Element {
  const length = manifest.ticks * manifest.tickSeconds;
  const endedSince = (from: number): number => Math.floor(now / length) - Math.floor(from / length);
  const windows = [1, ...beginnings(now).map(endedSince)];
  const { value, failure } = usePlanned("periodCosts", { task: manifest, windows });
  const names = ["This window", "This month so far", "This year so far"];
  return (
    <section aria-label="Over time" class="panel">
      <h2>Over time</h2>
      <p class="muted">
        At most: this is what a device has paid that was on in every window
        {manifest.budget && " that its budget allows"}. Figures of windows add up by the rules of composition, which is
        less than their sum.
      </p>
      {failure && <p role="alert">{failure.message}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard. */}
      <section class="scroll reserved" aria-label="What a device has paid, as a table" aria-busy={!value} tabIndex={0}>
        {value ? (
          <DataTable
            caption="What a device has paid over time"
            columns={["period", "windows", "answered", "local ε", "aggregate ε", "hijacked ε"]}
            rows={value.periods.map((period, i) => [names[i] as string, ...cellsOf(period)])}
          />
        ) : (
          <p class="muted">Adding up windows …</p>
        )}
      </section>
      <BudgetSection task={manifest as Task} />
    </section>
  );
}
