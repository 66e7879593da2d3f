import type { Task } from "@lethe/core/message";
import type { BudgetChange } from "@lethe/core/plan";
import type { JSX } from "preact";
import { DataTable } from "../chart/figure.tsx";
import { epsilonText, significant, whole } from "../format/number.ts";
import { duration } from "../format/time.ts";
import { usePlanned } from "../planner/use-planned.ts";
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
  if (!task.budget) {
    return <p>This task states no budget: a device answers in every window that it is on.</p>;
  }
  if (!value?.budget) return <p class="muted">Reading the budget …</p>;
  const { epsilon, days, neededEpsilon, windowsPerPeriod, affordablePerPeriod, changes } = value.budget;
  const isEnough = affordablePerPeriod >= windowsPerPeriod;
  return (
    <div class="budget">
      <h3>Its budget</h3>
      <p>
        A device spends at most ε = <b data-value={String(epsilon)}>{significant(epsilon)}</b> in any{" "}
        {significant(days)} days. All {whole(windowsPerPeriod)} windows of that time need ε ={" "}
        <b data-value={String(neededEpsilon)}>{epsilonText(neededEpsilon)}</b>.{" "}
        {isEnough
          ? "So it skips no window."
          : `So it answers ${whole(affordablePerPeriod)} of them and skips the others, which biases results towards devices that are seldom on.`}
      </p>
      <meter
        min={0}
        max={1}
        value={Math.min(1, neededEpsilon / epsilon)}
        aria-label="Share of the budget that is needed"
      />
      {changes.length > 0 && (
        <>
          <p>Any of these changes avoids that:</p>
          <ul>
            {changes.map((change) => (
              <li key={change.change}>{changeText(change)}</li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

function changeText(change: BudgetChange): string {
  switch (change.change) {
    case "longer-windows":
      return `Windows of ${duration(change.windowSeconds)}: "ticks": ${change.ticks}, "tickSeconds": ${change.tickSeconds}.`;
    case "fewer-metrics":
      return `Fewer metrics: keep ${change.keep.join(", ")}; drop ${change.drop.join(", ")}.`;
    case "server-noise":
      return `Noise at two servers: "noise": "servers", "sigma": ${change.metrics[0]?.sigma}.`;
  }
}
