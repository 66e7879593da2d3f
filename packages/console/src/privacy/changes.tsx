import type { Task } from "@lethe/core/message";
import type { JSX } from "preact";
import { DataTable } from "../chart/figure.tsx";
import { usePlanned } from "../planner/use-planned.ts";
import { Budget, NoBudget } from "../price/budget.tsx";
import { cellsOf } from "./period-cells.ts";
import { alternativeText } from "./sentences.ts";

/** What a year would cost with longer windows, or with fewer metrics. */
export function Changes({ task }: { task: Task }): JSX.Element {
  const { value, failure } = usePlanned("alternatives", { task });
  return (
    <section aria-label="What would change it" class="panel">
      <h2>What would change it</h2>
      <p class="muted">A whole year of a device that is always on and has no budget, as the task is and changed.</p>
      {failure && <p role="alert">{failure.message}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard. */}
      <section class="scroll reserved" aria-label="What a year would cost, as a table" aria-busy={!value} tabIndex={0}>
        {value ? (
          <DataTable
            caption="What a year would cost a device"
            columns={["change", "windows", "answered", "local ε", "aggregate ε", "hijacked ε"]}
            rows={value.alternatives.map((each) => [alternativeText(each), ...cellsOf(each.cost)])}
          />
        ) : (
          <p class="muted">Pricing longer windows and fewer metrics …</p>
        )}
      </section>
    </section>
  );
}

/** What a device may spend, how often it can answer, and what to change if it skips windows. */
export function BudgetSection({ task }: { task: Task }): JSX.Element {
  const { value } = usePlanned("budget", { task });
  if (!task.budget) return <NoBudget />;
  return value?.budget ? <Budget plan={value.budget} /> : <p class="muted">Reading the budget …</p>;
}
