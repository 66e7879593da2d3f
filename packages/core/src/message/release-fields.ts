import {
  count,
  described,
  type Field,
  type Fields,
  finite,
  list,
  name,
  nullable,
  object,
  oneOf,
  optional,
  readMessage,
  stricter,
  text,
  union,
  whole,
} from "../schema/index.ts";
import type { Output } from "../statistic/entry.ts";
import type { StatisticName } from "../statistic/spec.ts";
import { entryOf, STATISTICS } from "../statistic/table.ts";
import { MOST_TICKS } from "../statistic/writes.ts";
import type {
  BucketFigure,
  Figure,
  FigureDifference,
  GroupDifference,
  Lost,
  MetricDifference,
  PeriodFigure,
  Release,
  ReleasedGroup,
  ReleasedMetric,
  ReleasedQuantile,
  ReleasedSummary,
  ReleaseOrWithheld,
  Withheld,
  WithheldGroup,
} from "./release.ts";
import { ofGroups, refused } from "./window-status-fields.ts";

const interval = described(
  stricter(list("numbers", finite, 2, 2), { prefixItems: [finite.schema, finite.schema] }),
  "95%",
) as unknown as Field<Figure["interval"]>;

const FIGURE: Fields<Figure> = { estimate: finite, standardError: finite, interval, consistent: finite };

const BUCKET: Fields<BucketFigure> = { bucket: text, ...FIGURE };

const QUANTILE: Fields<ReleasedQuantile> = {
  q: finite,
  bucket: text,
  low: text,
  high: text,
};

const GUARANTEE: Omit<Fields<ReleasedMetric>, "statistic"> = {
  name,
  mechanism: text,
  localEpsilon: finite,
  epsilon: finite,
  delta: finite,
  bound: oneOf("exact", "upper"),
};

/** The statistics with metrics that have such figures. */
function statisticsWith(...outputs: readonly Output[]): readonly StatisticName[] {
  return STATISTICS.filter((statistic) => entryOf(statistic).answers.outputs.some((each) => outputs.includes(each)));
}

const WITH_CATEGORIES = statisticsWith("categories");
const WITH_ONE = statisticsWith("count", "average");

const ANY_NUMBER = Number.POSITIVE_INFINITY;

const SUMMARY: Fields<ReleasedSummary> = {
  reached: described(
    optional(list("figures", object("a step", BUCKET), 0, ANY_NUMBER)),
    "of a funnel: how many devices reached each step",
  ) as Field<readonly BucketFigure[]>,
  curve: described(
    optional(list("figures", object("a period", { period: whole(1, MOST_TICKS), ...FIGURE }), 0, ANY_NUMBER)),
    "of a retention: the share of the devices on which it happened in each period",
  ) as Field<readonly PeriodFigure[]>,
  margins: described(
    optional(list("figures", object("a margin", BUCKET), 0, ANY_NUMBER)),
    "of a joint: the sums of its rows, then of its columns",
  ) as Field<readonly BucketFigure[]>,
};

const WITH_BUCKETS = object("a metric", {
  ...GUARANTEE,
  statistic: oneOf(...WITH_CATEGORIES),
  buckets: list("buckets", object("a bucket", BUCKET), 0, ANY_NUMBER),
  quantiles: described(
    optional(list("quantiles", object("a quantile", QUANTILE), 0, ANY_NUMBER)),
    "of the devices that reported, by bucket; from low to high is 95%, for all of a metric at once",
  ),
  ...SUMMARY,
}) as Field<ReleasedMetric>;

const WITH_FIGURE = object("a metric", {
  ...GUARANTEE,
  statistic: oneOf(...WITH_ONE),
  ...FIGURE,
}) as Field<ReleasedMetric>;

/**
 * Of two forms of an entry about a metric: that of statistics with categories, or the other one. One of a statistic that
 * can have either has categories if it has buckets.
 */
const byOutput =
  <T>(withFigure: Field<T>, withBuckets: Field<T>): Parameters<typeof union<T>>[1] =>
  (_, { statistic, buckets }) => {
    const canBe = (all: readonly StatisticName[]): boolean => all.some((each) => each === statistic);
    if (!canBe(WITH_CATEGORIES)) return withFigure;
    return canBe(WITH_ONE) && buckets === undefined ? withFigure : withBuckets;
  };

const releasedMetric = union([WITH_FIGURE, WITH_BUCKETS], byOutput(WITH_FIGURE, WITH_BUCKETS));

const DIFFERENCE: Fields<FigureDifference> = {
  estimate: finite,
  standardError: finite,
  interval,
  pValue: described(finite, "two-sided"),
};

const DIFFERENCE_OF_BUCKETS = object("a difference", {
  name,
  statistic: oneOf(...WITH_CATEGORIES),
  buckets: list("buckets", object("a bucket", { bucket: text, ...DIFFERENCE }), 0, Number.POSITIVE_INFINITY),
}) as Field<MetricDifference>;

const DIFFERENCE_OF_FIGURES = object("a difference", {
  name,
  statistic: oneOf(...WITH_ONE),
  ...DIFFERENCE,
}) as Field<MetricDifference>;

const metricDifference = union(
  [DIFFERENCE_OF_FIGURES, DIFFERENCE_OF_BUCKETS],
  byOutput(DIFFERENCE_OF_FIGURES, DIFFERENCE_OF_BUCKETS),
);

const GROUP_DIFFERENCE: Fields<GroupDifference> = {
  group: name,
  minus: name,
  metrics: list("metrics", metricDifference, 0, Number.POSITIVE_INFINITY),
};

const GROUP_COUNTS = { group: name, enrolled: count, received: count };
const RELEASED_GROUP: Fields<ReleasedGroup> = {
  ...GROUP_COUNTS,
  status: oneOf("released"),
  metrics: list("metrics", releasedMetric, 0, Number.POSITIVE_INFINITY),
};
const WITHHELD_GROUP: Fields<WithheldGroup> = {
  ...GROUP_COUNTS,
  status: oneOf("not-enough"),
  missing: described(count, "how many more devices it would have taken"),
};
const GROUP_BY_STATUS: Readonly<Record<"released" | "not-enough", Field<ReleasedGroup | WithheldGroup>>> = {
  released: object("a group", RELEASED_GROUP),
  "not-enough": object("a group", WITHHELD_GROUP),
};
const groupStatus = oneOf("released", "not-enough");
const group: Field<ReleasedGroup | WithheldGroup> = union(
  Object.values(GROUP_BY_STATUS),
  (path, found) => GROUP_BY_STATUS[groupStatus(`${path}.status`, found.status)],
);

const OUTCOME: Omit<Fields<Lost>, "status"> = {
  task: name,
  version: count,
  window: count,
  from: count,
  to: count,
  at: count,
  enrolled: count,
  received: count,
  refused,
};

const LOCAL: Fields<Release["privacy"]["local"]> = {
  sum: optional(finite) as Field<number>,
  epsilon: finite,
  delta: finite,
};

const PRIVACY: Fields<Release["privacy"]> = {
  local: object("a guarantee", LOCAL),
  aggregate: object("a guarantee", { epsilon: finite, delta: finite, bound: oneOf("upper") }),
  hijackedEpsilon: nullable(finite),
  honest: count,
};

const RELEASED: Fields<Release> = {
  status: oneOf("released"),
  ...OUTCOME,
  invalid: object("a count of invalid reports", { estimate: finite, standardError: finite, epsilon: finite }),
  metrics: list("metrics", releasedMetric, 0, Number.POSITIVE_INFINITY),
  devices: described(
    optional(count),
    "reports of the groups that are released, if the task has groups",
  ) as Field<number>,
  groups: ofGroups(group),
  differences: ofGroups(object("a difference", GROUP_DIFFERENCE)),
  privacy: object("a price", PRIVACY),
};

const WITHHELD: Fields<Withheld> = {
  status: oneOf("not-enough"),
  missing: described(count, "how many more devices it would have taken"),
  ...OUTCOME,
  groups: ofGroups(object("a group", WITHHELD_GROUP)),
};

const LOST: Fields<Lost> = { status: oneOf("lost"), ...OUTCOME };

const BY_STATUS: Readonly<Record<ReleaseOrWithheld["status"], Field<ReleaseOrWithheld>>> = {
  released: object("a release", RELEASED),
  "not-enough": object("a release", WITHHELD),
  lost: object("a release", LOST),
};

const status = oneOf("released", "not-enough", "lost");

/** What became of a window of one server. */
export const release: Field<ReleaseOrWithheld> = union(Object.values(BY_STATUS), (path, found) => {
  return BY_STATUS[status(`${path}${path && "."}status`, found.status)];
});

/** Reads a release, or why there is none; anything else is a `bad-encoding` error that names the field. */
export function parseRelease(json: string): ReleaseOrWithheld {
  return readMessage("release", json, (found) => release("", found));
}
