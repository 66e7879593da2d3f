export {
  type HistogramMetric,
  type MeanMetric,
  type Metric,
  type OccurrenceMetric,
  parseTask,
  statisticsOf,
  type Task,
  type TaskStatistic,
} from "./task.ts";
