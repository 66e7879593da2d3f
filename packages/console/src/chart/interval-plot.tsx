import type { JSX } from "preact";
import { linearScale } from "./scale.ts";

/** A point of the plot: a value with its interval, or the reason why there is none. */
export interface Point {
  /** On the axis. */
  readonly name: string;
  readonly value?: number;
  readonly interval?: readonly [low: number, high: number];
  /** What really happened, if a demonstration knows. */
  readonly truth?: number;
  /** Why there is no value: "too few devices". A gap is never drawn as zero. */
  readonly gap?: string;
}

const [WIDTH, HEIGHT] = [720, 260];
const [LEFT, RIGHT, TOP, BOTTOM] = [64, 12, 10, 34];
const MOST_NAMES = 8;

/** Values over windows, each with its 95% interval; a band and a line through them, broken at gaps. */
export function IntervalPlot({
  points,
  format,
}: {
  points: readonly Point[];
  format: (value: number) => string;
}): JSX.Element {
  const all = points.flatMap(({ value, interval, truth }) => [value, truth, ...(interval ?? [])]);
  const y = linearScale(
    all.filter((each) => each !== undefined),
    HEIGHT - BOTTOM,
    TOP,
  );
  const step = (WIDTH - LEFT - RIGHT) / Math.max(1, points.length);
  const x = (i: number): number => LEFT + (i + 0.5) * step;
  const every = Math.ceil(points.length / MOST_NAMES);
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="presentation">
      {y.ticks.map((tick) => (
        <g key={tick}>
          <line class={tick === 0 ? "axis" : "grid"} x1={LEFT} x2={WIDTH - RIGHT} y1={y.at(tick)} y2={y.at(tick)} />
          <text class="label" x={LEFT - 8} y={y.at(tick)} text-anchor="end" dominant-baseline="middle">
            {format(tick)}
          </text>
        </g>
      ))}
      {runsOf(points).map((run) => (
        <path
          key={run[0]}
          class="line"
          fill="none"
          d={run.map((i, at) => `${at === 0 ? "M" : "L"}${x(i)} ${y.at(points[i]?.value ?? 0)}`).join("")}
        />
      ))}
      {points.map((point, i) => (
        <PointMark key={`${i} ${point.name}`} point={point} x={x(i)} step={step} at={y.at} />
      ))}
      {points.map(
        ({ name }, i) =>
          i % every === 0 && (
            <text key={`${i} ${name}`} class="label" x={x(i)} y={HEIGHT - 12} text-anchor="middle">
              {name}
            </text>
          ),
      )}
    </svg>
  );
}

function PointMark({
  point: { value, interval, truth, gap },
  x,
  step,
  at,
}: {
  point: Point;
  x: number;
  step: number;
  at: (value: number) => number;
}): JSX.Element {
  if (value === undefined) {
    return (
      <g>
        <rect class="gap" x={x - step / 2} y={TOP} width={step} height={HEIGHT - BOTTOM - TOP}>
          <title>{gap}</title>
        </rect>
      </g>
    );
  }
  return (
    <g>
      {interval && <line class="interval" x1={x} x2={x} y1={at(interval[0])} y2={at(interval[1])} />}
      <circle class="point" cx={x} cy={at(value)} r={3.5} />
      {truth !== undefined && (
        <line
          class="truth"
          x1={x - Math.min(9, step / 2)}
          x2={x + Math.min(9, step / 2)}
          y1={at(truth)}
          y2={at(truth)}
        />
      )}
    </g>
  );
}

/** The positions of values without a gap between them. */
function runsOf(points: readonly Point[]): number[][] {
  const runs: number[][] = [];
  points.forEach(({ value }, i) => {
    if (value === undefined) return;
    const last = runs.at(-1);
    if (last && last.at(-1) === i - 1) last.push(i);
    else runs.push([i]);
  });
  return runs;
}
