import type { BudgetChange, BudgetPlan } from "@lethe/core/plan";
import { count, figure } from "../print/table.ts";
import { inWords } from "../print/time.ts";

/** What a device with a budget does, and what to change if it skips windows. */
export function describeBudget(plan: BudgetPlan): string {
  const { epsilon, days, delta, windows, answered, windowsPerPeriod, affordablePerPeriod, neededEpsilon } = plan;
  const needed = Number.isFinite(neededEpsilon) ? `ε = ${figure(neededEpsilon)}` : "more than any budget";
  const lines = [
    `budget of a device: ε = ${figure(epsilon)} in any ${figure(days)} days, δ = ${figure(delta)}`,
    `  ${windowsOf(windowsPerPeriod)} in ${figure(days)} days cost ${needed}`,
    `  a device that is always on answers ${count(affordablePerPeriod)} of ${count(windowsPerPeriod)} in ${figure(days)} days, ` +
      `${count(answered)} of ${count(windows)} in all`,
  ];
  if (affordablePerPeriod >= windowsPerPeriod) return [...lines, "  no window is skipped"].join("\n");
  const skipped = "  skipped windows bias results towards devices that are seldom on";
  if (plan.changes.length === 0) return [...lines, skipped, "  raise localEpsilon's noise, or the budget"].join("\n");
  return [...lines, skipped, "  any of these changes avoids that:", ...plan.changes.flatMap(describeChange)].join("\n");
}

function windowsOf(number: number): string {
  return number === 1 ? "1 window" : `${count(number)} windows`;
}

function describeChange(change: BudgetChange): string[] {
  switch (change.change) {
    case "longer-windows": {
      const { ticks, tickSeconds, windowSeconds } = change;
      const length = `windows of ${inWords(windowSeconds)}`;
      return [`  - longer windows: ${length} ("ticks": ${ticks}, "tickSeconds": ${tickSeconds})`];
    }
    case "fewer-metrics":
      return [`  - fewer metrics: keep ${listOf(change.keep)}; drop ${listOf(change.drop)}`];
    case "server-noise": {
      const [first] = change.metrics;
      const errors = change.metrics.map(({ name, standardError }) => `${name} ± ${figure(standardError)}`);
      const noise = `"noise": "servers", "sigma": ${first?.sigma}`;
      return [`  - noise at the servers: mode two-server, ${noise}; errors: ${listOf(errors)}`];
    }
  }
}

const MOST_NAMES = 8;

function listOf(names: readonly string[]): string {
  const more = names.length > MOST_NAMES ? ` and ${count(names.length - MOST_NAMES)} more` : "";
  return names.slice(0, MOST_NAMES).join(", ") + more;
}
