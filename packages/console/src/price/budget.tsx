import type { BudgetChange, BudgetPlan } from "@lethe/core/plan";
import type { JSX } from "preact";
import { epsilonText, significant, whole } from "../format/number.ts";
import { duration } from "../format/time.ts";
import "./price.css";

/** What a device may spend, how often it can answer, and what to change if it skips windows. */
export function Budget({ plan }: { plan: BudgetPlan }): JSX.Element {
  const { epsilon, days, neededEpsilon, windowsPerPeriod, affordablePerPeriod, changes } = plan;
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

/** What to say of a task without one. */
export function NoBudget(): JSX.Element {
  return <p>This task states no budget: a device answers in every window that it is on.</p>;
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
