import type { LatticeChoice, RistrettoGroup } from "../encryption/index.ts";
import type { Exposure } from "../privacy/index.ts";
import type { Field, JsonObject } from "../schema/index.ts";
import type { Charges, MetricPlan, Question, Settings } from "./question.ts";
import type { AnyShape, NoiseSource, ServerNoiseSpec, StatisticName } from "./spec.ts";
import type { DeviceSide, ServerSide } from "./statistic.ts";
import type { EventStream } from "./stream.ts";
import type { StatisticTypes } from "./table.ts";
import type { TwoServerParts } from "./two-server.ts";

/** Both halves of a statistic, and the lattice parameters it runs on, if it does. */
export interface Statistic {
  readonly device: DeviceSide;
  readonly server: ServerSide;
  readonly choice?: LatticeChoice;
  /** Of a ledger: the z with e^ε = t/z − 1. */
  readonly z?: number;
}

/** What a metric of one of these names is in a task. */
type MetricOf<Name extends StatisticName> = StatisticTypes[Name]["metric"];
type OneServerSpec<Name extends StatisticName> = StatisticTypes[Name]["oneServer"];
type ServerNoiseSpecOf<Name extends StatisticName> = Extract<ServerNoiseSpec, { readonly statistic: Name }>;

/**
 * Everything that the project knows about one statistic, but for the device's halves, which devices load by scheme
 * (`device/elgamal.ts`, `device/rotations.ts`, `device/two-server-statistics.ts`). `table.ts` has the list.
 */
export interface StatisticEntry<Name extends StatisticName> {
  readonly task: TaskPart<Name>;
  readonly run: RunningPart<Name>;
  readonly plan: PlanningPart<Name>;
  readonly answers: AnswersPart<Name>;
  readonly words: Words;
  /** Of metrics whose figure is an average, if those of others are numbers of devices. */
  readonly averageWords?: Words;
}

/** One way to write a metric in a task. */
export interface MetricForm {
  /** "a histogram metric", for messages. */
  readonly what: string;
  /** Whether a metric is of this form, as far as can be seen before it is read. Absent of the first form. */
  readonly isFor?: (metric: JsonObject) => boolean;
  readonly fields: Readonly<Record<string, Field<unknown>>>;
}

/** A metric, and a window in which it makes sense. */
export interface TaskExample<Example> {
  readonly metric: Example;
  readonly tickSeconds: number;
  readonly ticks: number;
}

/** How its metrics are written in tasks. */
export interface TaskPart<Name extends StatisticName> {
  /** The first is that of metrics for which no other is. */
  readonly forms: readonly [MetricForm, ...MetricForm[]];
  /**
   * Refuses a metric whose fields do not go together, each of which is fine by itself, with a `RangeError` that begins
   * with the name of the field. `isLimited` says that the metric runs where events have limited room.
   */
  check(metric: MetricOf<Name>, place: { readonly ticks: number; readonly isLimited: boolean }): void;
  /** The names of the events that a metric is about, each once. */
  events(metric: MetricOf<Name>, place: { readonly ticks: number }): readonly string[];
  /** What somebody who starts a task file can begin with. It can run, and says nothing that has a default. */
  readonly example: TaskExample<MetricOf<Name>>;
  /** What planning such a metric asks. */
  questionOf(metric: MetricOf<Name>, delta: number): Pick<Question, "goal" | "mechanism"> & AnyShape;
}

/** How it runs. */
interface RunningPart<Name extends StatisticName> {
  /** By scheme; tasks that ask for a scheme that is not here are refused. `group` opens what is on ElGamal. */
  readonly oneServer: Readonly<
    Record<StatisticTypes[Name]["schemes"], (spec: OneServerSpec<Name>, group?: RistrettoGroup) => Statistic>
  >;
  /** Absent if it runs with one server only. */
  readonly twoServers?: TwoServerRun<Name>;
  /** The spec for noise of the devices. A mean takes its σ from `localEpsilon` if `sigma` is absent. */
  specOf(
    settings: Settings,
    noise: { readonly localEpsilon: number; readonly sigma?: number | undefined },
  ): OneServerSpec<Name>;
}

/** How it runs with two servers. */
export interface TwoServerRun<Name extends StatisticName> {
  create(spec: StatisticTypes[Name]["twoServers"]): TwoServerParts;
  /** Whose noise there can be; the first if nobody says. */
  readonly noise: readonly [NoiseSource, ...NoiseSource[]];
  /** What a device runs that answers truly, where each server adds noise with this σ. */
  serverNoiseSpecOf(settings: Settings, sigma: number): ServerNoiseSpecOf<Name>;
  /** The σ of one server's noise in each answer. */
  sigmasOf(spec: ServerNoiseSpecOf<Name>): readonly number[];
  /** How much one device can change if the noise is the servers'. */
  exposure(shape: StatisticTypes[Name]["shape"]): Exposure;
}

/** What it costs in privacy and in error. */
export interface PlanningPart<Name extends StatisticName> {
  /**
   * The fields of `Settings` that it has and not every statistic, as options of commands state them. Absent if options
   * cannot describe it: then its metrics are planned as task files state them.
   */
  readonly settings?: readonly (keyof Settings | "sigma")[];
  /** Refuses wrong settings of this statistic, before anything takes long. */
  check(question: Question): void;
  /** Of one server. */
  plan(question: Question): MetricPlan;
  /** The plan with what the built statistic does differently from theory. */
  asItRuns?(plan: MetricPlan): MetricPlan;
  charges(spec: OneServerSpec<Name>, plan: Pick<MetricPlan, "mechanism" | "localEpsilon" | "reporting">): Charges;
  /** The largest value that a figure can have. */
  rangeOf(question: Pick<Question, "devices" | "limit">): number;
}

/**
 * The figures of a metric:
 *
 * - `count`: one figure, a number of devices;
 * - `categories`: every device is in exactly one category, and there is a figure for each, a number of devices;
 * - `average`: one figure, a number per device.
 */
export type Output = "count" | "categories" | "average";

/** What devices answer. */
export interface AnswersPart<Name extends StatisticName> {
  /** What the figures of its metrics can be. */
  readonly outputs: readonly (Output & StatisticTypes[Name]["output"])[];
  /** What those of a metric are. */
  output(shape: StatisticTypes[Name]["shape"]): Output & StatisticTypes[Name]["output"];
  /** The names of the categories of a metric; none if it has one figure only. */
  labels(shape: StatisticTypes[Name]["shape"]): readonly string[];
  /** What a release states besides the categories, if anything. */
  summary?(shape: StatisticTypes[Name]["shape"]): Summary;
  /** The true answer: what a device on which this happened adds to each of the metric's sums. */
  answer(shape: StatisticTypes[Name]["shape"], stream: EventStream): readonly number[];
  /**
   * Which quantiles a release has if the metric names none. Absent if there are none, because the categories are not in
   * order of size.
   */
  readonly quantiles?: readonly number[];
}

/** Figures about devices in any of several categories, which follow from the figures of the categories. */
export interface Summary {
  /** The field of a released metric that has them. */
  readonly field: SummaryField;
  /** Whether figures are shares of the devices, and not numbers of devices. */
  readonly isShare: boolean;
  readonly figures: readonly { readonly label: string; readonly categories: readonly number[] }[];
}

/** Fields of released metrics with such figures. */
export type SummaryField = "reached" | "curve" | "margins";

/** For people who read plans and results. */
export interface Words {
  /** What the statistic answers: "On how many devices did it happen?" */
  readonly question: string;
  /** "devices", or nothing if figures have no unit. */
  readonly unit: string;
  /** How many decimals of a figure are printed. */
  readonly decimals: number;
  /** What an error is that of: "a count". */
  readonly figure: string;
  /** What the error is that of if nothing happened: "an empty bucket". */
  readonly emptyFigure: string;
  /** "in devices". */
  readonly sigmaUnit: string;
  /** The heading of a column that names figures: "metric", "bucket". */
  readonly heading: string;
  /** A category in a sentence, if that is not its name alone. */
  readonly category?: (label: string) => string;
  /** What counts where events have no limit. */
  readonly events: string;
  /** The title of a chart of a metric's figures. Metrics of a statistic with `isShared` are bars of one chart. */
  readonly chart: { readonly isShared: boolean; title(name: string): string };
}
