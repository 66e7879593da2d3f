export { type Goal, type MetricPlan, planMetric, type Question, reportingDevices } from "./metric.ts";
export { type PlanParameters, parametersFor } from "./parameters.ts";
export { planTask, type TaskPlan, type TaskQuestion, type TotalCost } from "./task.ts";
export { planTwoServerMetric, type TwoServerMetricPlan, type TwoServerQuestion } from "./two-server.ts";
