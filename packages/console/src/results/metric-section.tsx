import { type FinishedWindow, figureIn } from "@lethe/analyst";
import type { Release, ReleasedMetric } from "@lethe/core/message";
import type { JSX } from "preact";
import { Figure } from "../chart/figure.tsx";
import { IntervalPlot } from "../chart/interval-plot.tsx";
import type { Truths } from "../demonstration/truth.ts";
import { axisTime, dateAndTime } from "../format/time.ts";
import { type Choices, trendSetting } from "./choices.ts";
import type { Change } from "./controls.tsx";
import {
  axisFormatterOf,
  chosenSeries,
  describeGap,
  FIGURE_COLUMNS,
  figureCells,
  formatterOf,
  pointsOf,
  shownOf,
  shownValue,
  truthOf,
  withTruth,
} from "./figures.ts";
import { GroupComparison } from "./group-comparison.tsx";
import { WindowFigure } from "./window-figure.tsx";

/** A metric: its headline, its trend, its figures in the selected window, and how groups differ. */
export function MetricSection({
  name,
  described,
  windows,
  selected,
  choices,
  query,
  change,
  truths,
}: {
  name: string;
  /** The release that says what the metric looks like. */
  described: Release;
  windows: readonly FinishedWindow[];
  selected: FinishedWindow;
  choices: Choices;
  query: Readonly<Record<string, string>>;
  change: Change;
  /** What really happened, in a demonstration. */
  truths: Truths | undefined;
}): JSX.Element | null {
  const overall = described.metrics.find((metric) => metric.name === name);
  if (!overall) return null;
  const series = chosenSeries(overall, query[trendSetting(name)], choices.group);
  const found = figureIn(selected, series);
  const { unit } = shownOf(overall);
  const format = formatterOf(unit);
  const { truth } = truthOf(truths, selected, series);
  return (
    <section class="metric panel" aria-label={name}>
      <header>
        <h2>{name}</h2>
        <p class="muted">{overall.statistic}</p>
        <p class="headline">
          {"figure" in found ? (
            <>
              {series.label !== undefined && <span>{series.label}</span>}{" "}
              <strong>{format(shownValue(found.figure, choices.values))}</strong>{" "}
              <span>
                {unit === "devices" ? "devices" : unit === "share" ? "of devices" : "per device"}, 95%{" "}
                {format(found.figure.interval[0])} to {format(found.figure.interval[1])}
              </span>
              {truth !== undefined && <span class="truth">, really {format(truth)}</span>}
            </>
          ) : (
            <span>{describeGap(found)}</span>
          )}
        </p>
      </header>
      <div class="pair">
        <Trend
          metric={overall}
          series={series}
          windows={windows}
          selected={selected}
          choices={choices}
          change={change}
          truths={truths}
        />
        {"figure" in found && (
          <WindowFigure
            metric={found.metric}
            choices={choices}
            devices={found.devices}
            window={selected.window}
            truths={truths}
          />
        )}
        {selected.status === "released" && selected.groups && (
          <GroupComparison name={name} release={selected} choices={choices} label={series.label} />
        )}
      </div>
    </section>
  );
}

function Trend({
  metric,
  series,
  windows,
  selected,
  choices,
  change,
  truths,
}: {
  metric: ReleasedMetric;
  series: ReturnType<typeof chosenSeries>;
  windows: readonly FinishedWindow[];
  selected: FinishedWindow;
  choices: Choices;
  change: Change;
  truths: Truths | undefined;
}): JSX.Element {
  const { figures, unit } = shownOf(metric);
  const labels = figures.flatMap(({ label }) => (label === undefined ? [] : [label]));
  const nameOf = ({ from, to }: FinishedWindow): string => axisTime(from, to - from);
  const rows = windows.map((window) => {
    const found = figureIn(window, series);
    const cells = "figure" in found ? figureCells(found.figure, unit) : [describeGap(found), "", "", ""];
    return [dateAndTime(window.from, window.to - window.from), ...cells];
  });
  const points = pointsOf(windows, series, choices.values, nameOf, truths);
  const table = { columns: ["window", ...FIGURE_COLUMNS], rows };
  return (
    <Figure
      title={series.label === undefined ? "Trend" : `Trend of ${series.label}`}
      fileName={`${metric.name}-trend`}
      table={truths ? withTruth(table, unit, points) : table}
      options={
        labels.length > 1 && (
          <label class="of">
            <span>Trend of</span>
            <select
              value={series.label}
              onChange={(event) => change({ [trendSetting(metric.name)]: event.currentTarget.value })}
            >
              {labels.map((label) => (
                <option key={label}>{label}</option>
              ))}
            </select>
          </label>
        )
      }
    >
      <IntervalPlot
        points={points}
        format={axisFormatterOf(unit)}
        selected={windows.indexOf(selected)}
        onSelect={(i) => change({ window: String(windows[i]?.window ?? "") })}
      />
    </Figure>
  );
}
