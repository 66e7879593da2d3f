import { errorsByDevices, type MetricPlan, planMetric, type Question } from "@lethe/core/plan";
import { entryOf } from "@lethe/core/statistic";
import type { Plot, Point } from "./index.ts";

/**
 * How the error grows with the number of devices, at the guarantee that is asked for, beside the alternatives to Lethe.
 */
export function errorByDevices<Q extends Question>(
  question: Q,
  planFor: (question: Q) => Pick<MetricPlan, "standardError" | "informationTheoreticStandardError">,
  progress: (share: number) => void = () => {},
): Plot {
  const plans = errorsByDevices(question, planFor, progress);
  const line = (error: (plan: (typeof plans)[number]) => number): Point[] =>
    plans.map((entry) => [entry.at, error(entry)]);
  const { goal, statistic, ticks } = question;
  const { emptyFigure, unit } = entryOf(statistic).words;
  return {
    title: `Standard error of ${emptyFigure}, ${describeGoal(question)}`,
    x: { label: "devices", scale: "log" },
    y: { label: unit === "" ? "standard error" : `standard error, in ${unit}`, scale: "log" },
    lines: [
      { name: "Lethe", points: line(({ plan }) => plan.standardError) },
      {
        name: `pan-private without cryptography, ${ticks} ticks`,
        points: line(({ plan }) => plan.informationTheoreticStandardError),
        style: "dashed",
      },
      ...("epsilon" in goal ? [localLine(question, plans)] : []),
    ],
  };
}

/** The error if every answer alone had to have the ε that is promised for the release: no hiding among others. */
function localLine(question: Question, plans: readonly { readonly at: number }[]): { name: string; points: Point[] } {
  const { goal } = question;
  const epsilon = "epsilon" in goal ? goal.epsilon : Number.NaN;
  // Errors at a given ε₀ do not need the guarantee of the release, so one device is planned for.
  const points = plans.map(({ at: devices }): Point => {
    const local = { localEpsilon: Math.min(epsilon, 20), delta: goal.delta };
    return [devices, planMetric({ ...question, devices, reporting: 1, goal: local }).standardError];
  });
  return { name: "every answer by itself", points };
}

function describeGoal({ goal }: Question): string {
  if ("epsilon" in goal) return `release with ε = ${goal.epsilon}, δ = ${shortly(goal.delta)}`;
  return "localEpsilon" in goal ? `local ε = ${goal.localEpsilon}` : `sigma = ${goal.sigma}`;
}

/** 1e-6, not 0.000001. */
function shortly(value: number): string {
  return value < 1e-3 ? value.toExponential() : String(value);
}
