import type { JSX } from "preact";
import { linearScale } from "./scale.ts";
import { useWidth } from "./width.ts";

/** A bar with its 95% interval. */
export interface Bar {
  readonly name: string;
  readonly value: number;
  readonly interval: readonly [low: number, high: number];
  /** What really happened, if a demonstration knows. */
  readonly truth?: number;
}

const ROW = 34;
const [RIGHT, BOTTOM] = [22, 26];
const [LEAST_LEFT, LETTER] = [60, 7.2];
/** Names take at most this share of the width. */
const MOST_LEFT = 0.4;
/** The room that a number on the axis takes. */
const NUMBER = 64;

/** Bars below each other, with error bars and names on the left. */
export function BarPlot({ bars, format }: { bars: readonly Bar[]; format: (value: number) => string }): JSX.Element {
  const [ref, width] = useWidth();
  const longest = bars.reduce((most, { name }) => Math.max(most, name.length), 0);
  const left = Math.min(MOST_LEFT * width, Math.max(LEAST_LEFT, 16 + LETTER * longest));
  const letters = Math.floor((left - 16) / LETTER);
  const height = bars.length * ROW + BOTTOM;
  const x = linearScale(
    bars.flatMap(({ value, interval, truth }) => [value, ...interval, truth ?? 0]),
    left,
    width - RIGHT,
    Math.max(2, Math.min(5, Math.floor((width - left) / NUMBER))),
  );
  return (
    <svg ref={ref} viewBox={`0 0 ${width} ${height}`} role="presentation">
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
              {shortened(name, letters)}
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

/** A name that fits; the table behind the plot has the whole one. */
export function shortened(name: string, letters: number): string {
  return name.length > letters ? `${name.slice(0, Math.max(1, letters - 1))}…` : name;
}
