/**
 * What Lethe counts. A statistic is one entry of `table.ts`: how its metrics are written in a task, how it runs on a
 * device and at one or two servers, what it costs, what its figures are and how people read about them. Each has a
 * folder (`occurrence`, `histogram`, `mean`, and those that are automata: `funnel`, `choice`, `active-periods`,
 * `retention`, `joint`, `automaton`); what they share is here: the device's recorder (`recorder.ts`), the
 * machines of the two schemes (`lattice`, `automaton`), and what both servers do with answers (`statistic.ts`,
 * `two-server.ts`). May import `encryption`, `estimate`, `privacy`, `randomness`, `schema` and `sharing`. Start reading
 * at `entry.ts`, then at `occurrence/entry.ts`.
 */
export { type Automaton, finalState, type TimedEvent } from "./automaton/automaton.ts";
export type { AutomatonNoise } from "./automaton/device.ts";
export { automatonStatistic } from "./automaton/server.ts";
export { createStatistic, type Statistic } from "./create.ts";
export type { AnswersPart, Output, StatisticEntry, SummaryField, Words } from "./entry.ts";
export { bucketName, bucketOf, type HistogramMechanismName, type HistogramSpec } from "./histogram/histogram.ts";
export { type Canary, createCanary } from "./lattice/canary.ts";
export type { MeanSpec } from "./mean/mean.ts";
export { defaultScheme, isJoint, MODES, SCHEMES } from "./names.ts";
export type { OccurrenceSpec } from "./occurrence/occurrence.ts";
export type { Charges, Settings } from "./question.ts";
export type { Recorder } from "./recorder.ts";
export { limitsEvents, SCHEME_TABLE, type SchemeEntry } from "./schemes.ts";
export type { AnyShape, SchemeName, StatisticName, StatisticSpec } from "./spec.ts";
export {
  type DeviceSide,
  MEAN_DELTA,
  type OpenedReport,
  type ServerSide,
  type StatisticBytes,
} from "./statistic.ts";
export type { EventStream, StreamEvent } from "./stream.ts";
export { entryOf, STATISTIC_TABLE, STATISTICS, schemesOf, twoServerRunOf } from "./table.ts";
export { DEFAULT_HIDES, MOST_TICKS } from "./writes.ts";
