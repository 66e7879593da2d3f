import type { MetricDifference, Release, ReleasedGroup, ReleasedMetric } from "@lethe/core/message";
import type { JSX } from "preact";
import { type Bar, BarPlot } from "../chart/bars.tsx";
import { ColumnPlot } from "../chart/columns.tsx";
import { type Cell, Figure } from "../chart/figure.tsx";
import { whole } from "../format/number.ts";
import type { Choices, Values } from "./choices.ts";
import { axisFormatterOf, categoryWords, figureCells, shownOf, shownValue, type Unit } from "./figures.ts";
import { type DifferenceSentence, differenceSentences } from "./sentences.ts";

/** As many groups as there are colours that one can tell apart. */
const MOST_GROUPS = 4;
/** Sentences that are read; the table has all differences. */
const MOST_SENTENCES = 3;

/** The groups of a release side by side in one metric, per device, and what their differences say. */
export function GroupComparison({
  name,
  release,
  choices: { values },
  label,
}: {
  name: string;
  release: Release;
  choices: Choices;
  /** The category whose trend is shown: its differences are named first. */
  label: string | undefined;
}): JSX.Element | null {
  const groups = (release.groups ?? []).filter((group) => group.status === "released");
  const metrics = groups.flatMap((group) => {
    const metric = group.metrics.find((each) => each.name === name);
    return metric ? [{ group, metric }] : [];
  });
  const [first] = metrics;
  if (!first || metrics.length < 2) return null;
  const isShare = shownOf(first.metric).unit === "devices";
  const unit: Unit = isShare ? "share" : shownOf(first.metric).unit;
  const series = metrics.slice(0, MOST_GROUPS).map(({ group, metric }) => ({
    name: group.group,
    bars: barsOf(metric, group, values, isShare),
  }));
  const isOne = series.every(({ bars }) => bars.length === 1);
  return (
    <Figure
      title={isShare ? "Groups side by side, as shares of their devices" : "Groups side by side"}
      fileName={`${name}-groups-${release.window}`}
      table={{
        columns: ["figure", "group", "devices", "estimate", "95% from", "to", "consistent"],
        rows: metrics.flatMap(({ group, metric }) => rowsOf(group, metric)),
      }}
      below={<Differences name={name} release={release} groups={groups} label={label} />}
      note={metrics.length > MOST_GROUPS ? `The first ${MOST_GROUPS} groups are drawn; the table has all.` : undefined}
    >
      {isOne ? (
        <BarPlot
          bars={series.flatMap(({ name: group, bars }) => bars.map((bar) => ({ ...bar, name: group })))}
          format={axisFormatterOf(unit)}
        />
      ) : (
        <>
          <ul class="legend">
            {series.map(({ name: group }, i) => (
              <li key={group}>
                <span class={`swatch series-${i}`} /> {group}
              </li>
            ))}
          </ul>
          <ColumnPlot series={series} format={axisFormatterOf(unit)} />
        </>
      )}
    </Figure>
  );
}

/** Per device, so that groups of different sizes can be compared. */
function barsOf(metric: ReleasedMetric, { received }: ReleasedGroup, values: Values, isShare: boolean): Bar[] {
  const parts = isShare ? received : 1;
  return shownOf(metric).figures.map(({ label = metric.name, figure }) => ({
    name: label,
    value: shownValue(figure, values) / parts,
    interval: [figure.interval[0] / parts, figure.interval[1] / parts],
  }));
}

function rowsOf({ group, received }: ReleasedGroup, metric: ReleasedMetric): Cell[][] {
  const { figures, unit } = shownOf(metric);
  return figures.map(({ label = metric.name, figure }) => [
    label,
    group,
    { text: whole(received), value: received },
    ...figureCells(figure, unit),
  ]);
}

function Differences({
  name,
  release,
  groups,
  label,
}: {
  name: string;
  release: Release;
  groups: readonly ReleasedGroup[];
  label: string | undefined;
}): JSX.Element {
  const received = new Map(groups.map((group) => [group.group, group.received]));
  const pairs = (release.differences ?? []).flatMap(({ group, minus, metrics }) => {
    const metric = metrics.find((each) => each.name === name);
    if (!metric) return [];
    const devices = [received.get(group) ?? 0, received.get(minus) ?? 0] as const;
    return [{ group, minus, metric, sentences: differenceSentences({ group, minus }, metric, devices) }];
  });
  return (
    <ul class="differences">
      {pairs.map(({ group, minus, sentences, metric }) => (
        <li key={`${group} ${minus}`}>
          {pairs.length > 1 && (
            <p class="muted">
              {group} and {minus}
            </p>
          )}
          {mostTelling(sentences, label).map((sentence) => (
            <p key={sentence.label} class={sentence.isVisible ? "seen" : ""}>
              {sentenceOf(sentence, metric)}
            </p>
          ))}
        </li>
      ))}
    </ul>
  );
}

function sentenceOf({ label, text }: DifferenceSentence, metric: MetricDifference): string {
  return label === undefined
    ? `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
    : `${categoryWords(metric, label)}: ${text}.`;
}

/** The visible differences first, and always that of the category whose trend is shown. */
function mostTelling(sentences: readonly DifferenceSentence[], label: string | undefined): DifferenceSentence[] {
  const rank = (each: DifferenceSentence): number => (each.isVisible ? 0 : each.label === label ? 1 : 2);
  const [first, ...rest] = sentences.toSorted((a, b) => rank(a) - rank(b));
  if (!first) return [];
  return [first, ...rest.filter(({ isVisible }) => isVisible)].slice(0, MOST_SENTENCES);
}
