export type { Goal, MetricPlan, Question } from "../statistic/question.ts";
export { planMetric, reportingDevices } from "./metric.ts";
export { type PlanParameters, parametersFor } from "./parameters.ts";
export { planTask, type TaskPlan, type TaskQuestion, type TotalCost } from "./task.ts";
export { planTwoServerMetric, type TwoServerMetricPlan, type TwoServerQuestion } from "./two-server.ts";
