import type { JSX } from "preact";
import { linearScale } from "./scale.ts";

/** A bar with its 95% interval. */
export interface Bar {
  readonly name: string;
  readonly value: number;
  readonly interval: readonly [low: number, high: number];
  /** What really happened, if a demonstration knows. */
  readonly truth?: number;
}

const WIDTH = 720;
const ROW = 34;
const [RIGHT, BOTTOM] = [16, 26];
const [LEAST_LEFT, MOST_LEFT, LETTER] = [60, 240, 7.2];

/** Bars below each other, with error bars and names on the left. */
export function BarPlot({ bars, format }: { bars: readonly Bar[]; format: (value: number) => string }): JSX.Element {
  const longest = bars.reduce((most, { name }) => Math.max(most, name.length), 0);
  const left = Math.min(MOST_LEFT, Math.max(LEAST_LEFT, 16 + LETTER * longest));
  const height = bars.length * ROW + BOTTOM;
  const x = linearScale(
    bars.flatMap(({ value, interval, truth }) => [value, ...interval, truth ?? 0]),
    left,
    WIDTH - RIGHT,
  );
  return (
    <svg viewBox={`0 0 ${WIDTH} ${height}`} role="presentation">
      {x.ticks.map((tick) => (
        <g key={tick}>
          <line class={tick === 0 ? "axis" : "grid"} x1={x.at(tick)} x2={x.at(tick)} y1={0} y2={height - BOTTOM} />
          <text class="label" x={x.at(tick)} y={height - 8} text-anchor="middle">
            {format(tick)}
          </text>
        </g>
      ))}
      {bars.map(({ name, value, interval: [low, high], truth }, i) => {
        const middle = (i + 0.5) * ROW;
        const [from, to] = [Math.min(x.at(0), x.at(value)), Math.max(x.at(0), x.at(value))];
        return (
          <g key={name}>
            <text class="label" x={left - 10} y={middle} text-anchor="end" dominant-baseline="middle">
              {name}
            </text>
            <rect class="bar" x={from} y={middle - 10} width={to - from} height={20} />
            <line class="interval" x1={x.at(low)} x2={x.at(high)} y1={middle} y2={middle} />
            <line class="interval" x1={x.at(low)} x2={x.at(low)} y1={middle - 5} y2={middle + 5} />
            <line class="interval" x1={x.at(high)} x2={x.at(high)} y1={middle - 5} y2={middle + 5} />
            {truth !== undefined && (
              <line class="truth" x1={x.at(truth)} x2={x.at(truth)} y1={middle - 13} y2={middle + 13} />
            )}
          </g>
        );
      })}
    </svg>
  );
}
