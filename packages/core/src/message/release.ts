import type { SummaryField } from "../statistic/entry.ts";
import type { StatisticName } from "../statistic/spec.ts";
import type { StatisticTypes } from "../statistic/table.ts";

/** One figure with its error bars. */
export interface Figure {
  /** Unbiased; may be negative or exceed the number of devices. */
  readonly estimate: number;
  readonly standardError: number;
  /** 95%. */
  readonly interval: readonly [low: number, high: number];
  /** The nearest value that could be true. */
  readonly consistent: number;
}

/** A figure of one of several categories, or of several of them together. */
export interface BucketFigure extends Figure {
  /** "0", "2–4", "5+"; the name of a step or of an option; "1010"; "paid × pdf". */
  readonly bucket: string;
}

/** The share of the devices on which it happened in a period of the window. */
export interface PeriodFigure extends Figure {
  /** From 1 on. */
  readonly period: number;
}

/** What follows from the figures of the categories, with errors from their joint distribution. */
export interface ReleasedSummary {
  /** Of a funnel: how many devices reached each step, or one behind it. */
  readonly reached?: readonly BucketFigure[];
  /** Of a retention: its curve. */
  readonly curve?: readonly PeriodFigure[];
  /** Of a table: the sums of its rows, then of its columns. */
  readonly margins?: readonly BucketFigure[];
}

/** A quantile of the devices that reported, by the names of buckets. */
export interface ReleasedQuantile {
  readonly q: number;
  /** The first bucket up to which a share of q of the devices are. */
  readonly bucket: string;
  /** From which bucket to which it may be: 95% for all quantiles of a metric at once. */
  readonly low: string;
  readonly high: string;
}

interface ReleasedGuarantee {
  readonly name: string;
  readonly mechanism: string;
  /** What the server learns of one device through this metric; of a mean at `delta`. */
  readonly localEpsilon: number;
  /** What this release reveals of one device through this metric, if at least `privacy.honest` reports are honest. */
  readonly epsilon: number;
  readonly delta: number;
  readonly bound: "exact" | "upper";
}

/** The statistics with metrics that have a figure for every category. */
type CategoryStatistic = StatisticWith<"categories">;

/** The statistics with metrics that have one figure. */
type FigureStatistic = StatisticWith<"count" | "average">;

type StatisticWith<Output> = {
  [Name in StatisticName]: Extract<StatisticTypes[Name]["output"], Output> extends never ? never : Name;
}[StatisticName];

/** What is known of a metric: one figure, or one for every category. */
export type ReleasedMetric = ReleasedGuarantee &
  (
    | ({ readonly statistic: FigureStatistic } & Figure)
    | ({
        readonly statistic: CategoryStatistic;
        readonly buckets: readonly BucketFigure[];
        /** If the buckets are in order of size. Releases from before there were quantiles have none. */
        readonly quantiles?: readonly ReleasedQuantile[];
      } & ReleasedSummary)
  );

/** A figure with what tells it from the others of its metric: a category, or nothing if it is the only one. */
export interface LabelledFigure {
  readonly label?: string;
  readonly figure: Figure;
}

/** The figures of a metric in their order: one, or one for every category. */
export function figuresOf(metric: ReleasedMetric): readonly LabelledFigure[] {
  return "buckets" in metric
    ? metric.buckets.map((figure) => ({ label: figure.bucket, figure }))
    : [{ figure: metric }];
}

/** What follows from the figures of a metric, by the name of its field; none of most statistics. */
export function summaryOf(metric: ReleasedMetric): { readonly [Field in SummaryField]?: readonly LabelledFigure[] } {
  if (!("buckets" in metric)) return {};
  const { reached, curve, margins } = metric;
  const labelled = (figures: readonly BucketFigure[]) => figures.map((figure) => ({ label: figure.bucket, figure }));
  return {
    ...(reached && { reached: labelled(reached) }),
    ...(curve && { curve: curve.map((figure) => ({ label: `period ${figure.period}`, figure })) }),
    ...(margins && { margins: labelled(margins) }),
  };
}

/** The quantiles of a metric, none if its figures have no order. */
export function quantilesOf(metric: ReleasedMetric): readonly ReleasedQuantile[] {
  return ("buckets" in metric && metric.quantiles) || [];
}

/** How one group of devices differs from another in a figure: in the share of devices, or in a mean. */
export interface FigureDifference {
  readonly estimate: number;
  readonly standardError: number;
  /** 95%. */
  readonly interval: readonly [low: number, high: number];
  /** Two-sided; below 0.05 exactly if the interval leaves out zero. Not corrected for looking at several figures. */
  readonly pValue: number;
}

/** The difference in one of several categories. */
interface BucketDifference extends FigureDifference {
  readonly bucket: string;
}

/** The differences between two groups in a metric: one, or one for every category. */
export type MetricDifference = { readonly name: string } & (
  | ({ readonly statistic: FigureStatistic } & FigureDifference)
  | { readonly statistic: CategoryStatistic; readonly buckets: readonly BucketDifference[] }
);

/** How much more a group has than another, whose name is in `minus`. */
export interface GroupDifference {
  readonly group: string;
  readonly minus: string;
  readonly metrics: readonly MetricDifference[];
}

interface GroupCounts {
  readonly group: string;
  readonly enrolled: number;
  readonly received: number;
}

/** A group of which at least `minimumDevices` devices reported. */
export interface ReleasedGroup extends GroupCounts {
  readonly status: "released";
  readonly metrics: readonly ReleasedMetric[];
}

/** A group of which fewer devices reported: nothing is released, and the total leaves it out. */
export interface WithheldGroup extends GroupCounts {
  readonly status: "not-enough";
  /** How many more it would have taken. */
  readonly missing: number;
}

/** How many requests were refused, by public reason. */
export type Refused = Readonly<Record<string, number>>;

interface Outcome {
  readonly task: string;
  /** Of the task. */
  readonly version: number;
  readonly window: number;
  /** Unix seconds: when the window began and ended, and when this was made. */
  readonly from: number;
  readonly to: number;
  readonly at: number;
  readonly enrolled: number;
  readonly received: number;
  readonly refused: Refused;
}

/** What a window's reports told. Made once, never changed. */
export interface Release extends Outcome {
  readonly status: "released";
  /** How many reports were found invalid when opened: never the exact number, but with noise of this standard error. */
  readonly invalid: { readonly estimate: number; readonly standardError: number; readonly epsilon: number };
  /** With groups: over all devices of the groups that are released. */
  readonly metrics: readonly ReleasedMetric[];
  /** With groups: how many reports `metrics` is made from. Those of groups that are not released are not among them. */
  readonly devices?: number;
  /** In the order of the task, which has groups. */
  readonly groups?: readonly (ReleasedGroup | WithheldGroup)[];
  /** Every pair of released groups, the later one of the task minus the earlier one. */
  readonly differences?: readonly GroupDifference[];
  /** All metrics together, what a device pays for this window. */
  readonly privacy: {
    readonly local: { readonly sum?: number; readonly epsilon: number; readonly delta: number };
    readonly aggregate: { readonly epsilon: number; readonly delta: number; readonly bound: "upper" };
    /**
     * At the aggregate's δ, of a device whose state an intruder captured and sent as its report; null if no ε holds.
     */
    readonly hijackedEpsilon: number | null;
    /** How many honest reports these stand on: minimumDevices · (1 − missing), which the operator vouches for. */
    readonly honest: number;
  };
}

/** A window that closed with fewer reports than `minimumDevices`, in each of its groups: nothing is released. */
export interface Withheld extends Outcome {
  readonly status: "not-enough";
  /** How many more it would have taken; with groups, in the group that lacked fewest. */
  readonly missing: number;
  /** In the order of the task, which has groups. */
  readonly groups?: readonly WithheldGroup[];
}

/** A window whose secret was lost: nothing of it can be opened. */
export interface Lost extends Outcome {
  readonly status: "lost";
}

/** What became of a window of one server. */
export type ReleaseOrWithheld = Release | Withheld | Lost;

/**
 * - `not-open`: devices may enrol, nothing is counted yet;
 * - `open`: running; `grace`: over, reports are still accepted;
 * - `closed`: no more reports, the release is being made;
 * - `released`, `not-enough` or `lost`: done.
 */
export type WindowState = "not-open" | "open" | "grace" | "closed" | "released" | "not-enough" | "lost";

/** How far a window is. */
export interface WindowStatus {
  readonly task: string;
  readonly version: number;
  readonly window: number;
  readonly state: WindowState;
  /** Unix seconds: beginning, end, and when it closes by itself. */
  readonly from: number;
  readonly to: number;
  readonly closes: number;
  readonly enrolled: number;
  readonly received: number;
  readonly minimumDevices: number;
  /** If there are any, `minimumDevices` holds for each. How many devices each has is published with the release. */
  readonly groups?: readonly string[];
  readonly refused: Refused;
}
