import { ANY, type CrossTable, crossTableOf } from "@lethe/analyst";
import { quantilesOf, type ReleasedMetric } from "@lethe/core/message";
import type { JSX } from "preact";
import { type Bar, BarPlot } from "../chart/bars.tsx";
import { ColumnPlot } from "../chart/columns.tsx";
import { Figure, type TableData } from "../chart/figure.tsx";
import { IntervalPlot } from "../chart/interval-plot.tsx";
import type { Truths } from "../demonstration/truth.ts";
import { percent, whole } from "../format/number.ts";
import type { Choices, Values } from "./choices.ts";
import {
  axisFormatterOf,
  FIGURE_COLUMNS,
  figureCells,
  kindOf,
  shownOf,
  shownValue,
  truthOf,
  withTruth,
} from "./figures.ts";
import { stepsOf } from "./funnel.ts";
import { FunnelPlot } from "./funnel-plot.tsx";
import { heatMapOf } from "./heat-map.ts";
import { HeatMapPlot } from "./heat-map-plot.tsx";
import { quantileSentence } from "./sentences.ts";

/** The figures of a metric in one window, drawn as its kind is; nothing if it is one figure, which the headline has. */
export function WindowFigure({
  metric,
  choices: { values, group },
  devices,
  window,
  truths,
}: {
  metric: ReleasedMetric;
  choices: Choices;
  devices: number;
  window: number;
  /** What really happened, in a demonstration. */
  truths: Truths | undefined;
}): JSX.Element | null {
  const kind = kindOf(metric);
  const { figures, unit, summary } = shownOf(metric);
  const format = axisFormatterOf(unit);
  const fileName = `${metric.name}-${window}`;
  const bars = figures.map(
    ({ label, figure }): Bar => ({
      name: label ?? "",
      value: shownValue(figure, values),
      interval: figure.interval,
      ...truthOf(truths, { window }, { name: metric.name, label, group, ...(summary && { summary }) }),
    }),
  );
  const note = `${whole(devices)} devices`;
  const table = tableOf(metric);
  const frame = { fileName, table: truths ? withTruth(table, unit, bars) : table, note };
  switch (kind) {
    case "single":
      return null;
    case "funnel":
      return (
        <Figure {...frame} title="Devices that reached each step" table={funnelTable(metric, values)}>
          <FunnelPlot steps={stepsOf(figures, values)} />
        </Figure>
      );
    case "retention":
      return (
        <Figure {...frame} title="Share of devices on which it happened, by period">
          <IntervalPlot
            points={bars.map((bar) => ({ ...bar, name: bar.name.replace("period ", "") }))}
            format={format}
          />
        </Figure>
      );
    case "table":
      return <CrossFigure metric={metric} values={values} frame={frame} />;
    case "histogram":
      return (
        <Figure {...frame} title="Devices by bucket" below={<Quantiles metric={metric} />}>
          <ColumnPlot series={[{ name: metric.name, bars }]} format={format} />
        </Figure>
      );
    case "choice":
      return (
        <Figure {...frame} title="Devices by category">
          <BarPlot bars={bars} format={format} />
        </Figure>
      );
  }
}

function Quantiles({ metric }: { metric: ReleasedMetric }): JSX.Element | null {
  const quantiles = quantilesOf(metric);
  if (quantiles.length === 0) return null;
  return (
    <ul class="quantiles">
      {quantiles.map((quantile) => (
        <li key={quantile.q}>{quantileSentence(quantile)}</li>
      ))}
    </ul>
  );
}

/** Every figure that is drawn, and of funnels and retentions the categories behind it. */
function tableOf(metric: ReleasedMetric): TableData {
  const { figures, unit } = shownOf(metric);
  return {
    columns: ["category", ...FIGURE_COLUMNS],
    rows: figures.map(({ label = metric.name, figure }) => [label, ...figureCells(figure, unit)]),
  };
}

function funnelTable(metric: ReleasedMetric, values: Values): TableData {
  const { figures } = shownOf(metric);
  const steps = stepsOf(figures, values);
  const { columns, rows } = tableOf(metric);
  const share = (value: number | undefined): string => (value === undefined ? "" : percent(value));
  return {
    columns: [...columns, "of the first", "of the step before"],
    rows: rows.map((row, i) => [...row, share(steps[i]?.ofFirst), share(steps[i]?.ofPrevious)]),
  };
}

function CrossFigure({
  metric,
  values,
  frame,
}: {
  metric: ReleasedMetric;
  values: Values;
  frame: { fileName: string; note: string };
}): JSX.Element | null {
  const table = crossTableOf(metric);
  if (!table) return null;
  return (
    <Figure {...frame} title="Devices by pair" table={crossRows(table)}>
      <HeatMapPlot map={heatMapOf(table, values)} />
    </Figure>
  );
}

/** One row per pair and per sum, as the release has them. */
function crossRows(table: CrossTable): TableData {
  const rows = [...table.rows, ANY].flatMap((row) =>
    [...table.columns, ANY].flatMap((column) => {
      const figure = table.figureAt(row, column);
      return figure ? [[`${row} × ${column}`, ...figureCells(figure, "devices")]] : [];
    }),
  );
  return { columns: ["pair", ...FIGURE_COLUMNS], rows };
}
