import {
  type MetricPlan,
  type PlanParameters,
  parametersFor,
  planMetric,
  planTwoServerMetric,
  type TwoServerMetricPlan,
} from "@lethe/core/plan";
import { type MeasuredCost, measureCost } from "@lethe/lab/cost";
import { errorByDevices } from "@lethe/lab/error-plot";
import type { Plot } from "@lethe/lab/plot";
import { createProgress } from "../print/progress.ts";
import type { PlannedMetric, PlanOptions } from "./question.ts";

/** The answer to a question about one metric. */
export interface AnsweredMetric {
  readonly plan: Omit<MetricPlan, "spec"> & Pick<Partial<TwoServerMetricPlan>, "noise">;
  /** How the metric is built, and what it costs on this machine. */
  readonly parameters: PlanParameters & { readonly microseconds?: MeasuredCost };
  /** The error by the number of devices, if it is to be drawn. */
  readonly picture?: Plot;
}

/** Plans a metric, measures what it costs on this machine, and computes its picture if `plot` asks for one. */
export async function answerMetric(
  question: PlannedMetric,
  { mode, scheme, plot }: Pick<PlanOptions, "mode" | "scheme" | "plot">,
): Promise<AnsweredMetric> {
  const planFor = mode === "two-server" ? planTwoServerMetric : planMetric;
  const { spec, ...plan }: MetricPlan | TwoServerMetricPlan = planFor(question);
  const chosen = parametersFor(spec, question.devices, plan.delta, scheme);
  const microseconds = await measureCost(chosen.scheme, spec);
  const parameters = { ...chosen, ...(microseconds && { microseconds }) };
  if (plot === undefined) return { plan, parameters };
  // The picture is of the mechanism that was chosen.
  const drawn = "mechanism" in spec && spec.mechanism ? { ...question, mechanism: spec.mechanism } : question;
  return { plan, parameters, picture: errorByDevices(drawn, planFor, createProgress("error by devices")) };
}
