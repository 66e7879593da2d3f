import type { JSX } from "preact";
import { logScale } from "./scale.ts";
import { useWidth } from "./width.ts";

/** A point of a curve; both numbers are above zero. */
export interface CurvePoint {
  readonly at: number;
  readonly value: number;
}

const HEIGHT = 220;
const [LEFT, RIGHT, TOP, BOTTOM] = [64, 16, 12, 30];
/** The room that a number on the axis takes. */
const NUMBER = 64;

/** A curve on logarithmic axes, with one point of it marked. */
export function CurvePlot({
  points,
  chosen,
  formatAt,
  formatValue,
}: {
  points: readonly CurvePoint[];
  chosen: CurvePoint;
  formatAt: (at: number) => string;
  formatValue: (value: number) => string;
}): JSX.Element {
  const [ref, width] = useWidth();
  const all = [...points, chosen].toSorted((a, b) => a.at - b.at);
  const x = logScale(
    all.map(({ at }) => at),
    LEFT,
    width - RIGHT,
    Math.max(2, Math.floor((width - LEFT) / NUMBER)),
  );
  const y = logScale(
    all.map(({ value }) => value),
    HEIGHT - BOTTOM,
    TOP,
    5,
  );
  const [markX, markY] = [x.at(chosen.at), y.at(chosen.value)];
  return (
    <svg ref={ref} viewBox={`0 0 ${width} ${HEIGHT}`} role="presentation">
      {y.ticks.map((tick) => (
        <g key={tick}>
          <line class="grid" x1={LEFT} x2={width - RIGHT} y1={y.at(tick)} y2={y.at(tick)} />
          <text class="label" x={LEFT - 8} y={y.at(tick)} text-anchor="end" dominant-baseline="middle">
            {formatValue(tick)}
          </text>
        </g>
      ))}
      {x.ticks.map((tick) => (
        <text key={tick} class="label" x={x.at(tick)} y={HEIGHT - 8} text-anchor="middle">
          {formatAt(tick)}
        </text>
      ))}
      <line class="axis" x1={LEFT} x2={width - RIGHT} y1={HEIGHT - BOTTOM} y2={HEIGHT - BOTTOM} />
      <path
        class="line"
        fill="none"
        d={all.map(({ at, value }, i) => `${i === 0 ? "M" : "L"}${x.at(at)} ${y.at(value)}`).join("")}
      />
      <path class="chosen" fill="none" d={`M${markX} ${HEIGHT - BOTTOM}V${markY}H${LEFT}`} />
      <circle class="point" cx={markX} cy={markY} r={6} />
    </svg>
  );
}
