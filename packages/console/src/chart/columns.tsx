import type { JSX } from "preact";
import { type Bar, shortened } from "./bars.tsx";
import { linearScale } from "./scale.ts";
import { useWidth } from "./width.ts";

/** Bars of one colour, one for every category of the plot. */
export interface ColumnSeries {
  readonly name: string;
  readonly bars: readonly Bar[];
}

const HEIGHT = 240;
const [LEFT, RIGHT, TOP, BOTTOM] = [56, 8, 10, 30];
const LETTER = 7.2;
/** The narrowest room of a category; more categories make the plot wider than its place, which then scrolls. */
const LEAST_STEP = 26;

/** Upright bars with error bars: a histogram, or with several series the same categories side by side. */
export function ColumnPlot({
  series,
  format,
}: {
  series: readonly ColumnSeries[];
  format: (value: number) => string;
}): JSX.Element {
  const names = series[0]?.bars.map(({ name }) => name) ?? [];
  const [ref, width] = useWidth(LEFT + RIGHT + LEAST_STEP * names.length);
  const step = (width - LEFT - RIGHT) / Math.max(1, names.length);
  const thick = Math.min(64, (0.76 * step) / Math.max(1, series.length));
  const y = linearScale(
    series.flatMap(({ bars }) => bars.flatMap(({ value, interval, truth }) => [value, ...interval, truth ?? 0])),
    HEIGHT - BOTTOM,
    TOP,
  );
  const letters = Math.floor(step / LETTER);
  const middle = (category: number, which: number): number =>
    LEFT + (category + 0.5) * step + (which - (series.length - 1) / 2) * thick;
  return (
    <svg ref={ref} viewBox={`0 0 ${width} ${HEIGHT}`} width={width} role="presentation">
      {y.ticks.map((tick) => (
        <g key={tick}>
          <line class={tick === 0 ? "axis" : "grid"} x1={LEFT} x2={width - RIGHT} y1={y.at(tick)} y2={y.at(tick)} />
          <text class="label" x={LEFT - 8} y={y.at(tick)} text-anchor="end" dominant-baseline="middle">
            {format(tick)}
          </text>
        </g>
      ))}
      {series.map(({ name, bars }, which) =>
        bars.map((bar, i) => (
          <Column key={`${name} ${bar.name}`} bar={bar} x={middle(i, which)} thick={thick} at={y.at} which={which} />
        )),
      )}
      {names.map((name, i) => (
        <text key={name} class="label" x={LEFT + (i + 0.5) * step} y={HEIGHT - 8} text-anchor="middle">
          {shortened(name, letters)}
        </text>
      ))}
    </svg>
  );
}

function Column({
  bar: {
    value,
    interval: [low, high],
    truth,
  },
  x,
  thick,
  at,
  which,
}: {
  bar: Bar;
  x: number;
  thick: number;
  at: (value: number) => number;
  which: number;
}): JSX.Element {
  const [top, bottom] = [Math.min(at(0), at(value)), Math.max(at(0), at(value))];
  const cap = Math.min(5, thick / 4);
  return (
    <g>
      <rect class={`bar series-${which}`} x={x - 0.46 * thick} y={top} width={0.92 * thick} height={bottom - top} />
      <path
        class="interval"
        fill="none"
        d={`M${x - cap} ${at(low)}h${2 * cap}M${x - cap} ${at(high)}h${2 * cap}M${x} ${at(low)}L${x} ${at(high)}`}
      />
      {truth !== undefined && (
        <line class="truth" x1={x - thick / 2} x2={x + thick / 2} y1={at(truth)} y2={at(truth)} />
      )}
    </g>
  );
}
