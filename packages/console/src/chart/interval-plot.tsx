import type { JSX } from "preact";
import { useEffect, useId } from "preact/hooks";
import { Hatching } from "./hatching.tsx";
import { linearScale } from "./scale.ts";
import { useWidth } from "./width.ts";

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

const HEIGHT = 240;
const [LEFT, RIGHT, TOP, BOTTOM] = [56, 8, 10, 30];
/** The room that a name on the axis takes: at least, and per letter. */
const [LEAST_NAME, LETTER] = [76, 6.8];

/**
 * Values over windows, each with its 95% interval, and a line through them that is broken at gaps. With `onSelect`, a
 * click on a point or gap selects it; readers who use the keyboard need another way.
 */
export function IntervalPlot({
  points,
  format,
  selected,
  onSelect,
}: {
  points: readonly Point[];
  format: (value: number) => string;
  selected?: number;
  onSelect?: (index: number) => void;
}): JSX.Element {
  const [ref, width] = useWidth();
  const hatching = useId();
  const all = points.flatMap(({ value, interval, truth }) => [value, truth, ...(interval ?? [])]);
  const y = linearScale(
    all.filter((each) => each !== undefined),
    HEIGHT - BOTTOM,
    TOP,
  );
  const step = (width - LEFT - RIGHT) / Math.max(1, points.length);
  const x = (i: number): number => LEFT + (i + 0.5) * step;
  const room = points.reduce((most, { name }) => Math.max(most, 12 + LETTER * name.length), LEAST_NAME);
  const every = Math.ceil(room / step);
  useEffect(() => {
    const svg = ref.current;
    if (!svg || !onSelect) return undefined;
    const select = (event: MouseEvent): void => {
      const i = Math.floor((event.clientX - svg.getBoundingClientRect().left - LEFT) / step);
      if (i >= 0 && i < points.length) onSelect(i);
    };
    svg.addEventListener("click", select);
    return () => svg.removeEventListener("click", select);
  }, [ref, onSelect, step, points.length]);
  return (
    <svg ref={ref} class={onSelect ? "selectable" : ""} viewBox={`0 0 ${width} ${HEIGHT}`} role="presentation">
      <Hatching id={hatching} />
      {y.ticks.map((tick) => (
        <g key={tick}>
          <line class={tick === 0 ? "axis" : "grid"} x1={LEFT} x2={width - RIGHT} y1={y.at(tick)} y2={y.at(tick)} />
          <text class="label" x={LEFT - 8} y={y.at(tick)} text-anchor="end" dominant-baseline="middle">
            {format(tick)}
          </text>
        </g>
      ))}
      {selected !== undefined && selected >= 0 && (
        <rect class="selected" x={x(selected) - step / 2} y={TOP} width={step} height={HEIGHT - BOTTOM - TOP} />
      )}
      {runsOf(points).map((run) => (
        <path
          key={run[0]}
          class="line"
          fill="none"
          d={run.map((i, at) => `${at === 0 ? "M" : "L"}${x(i)} ${y.at(points[i]?.value ?? 0)}`).join("")}
        />
      ))}
      {points.map((point, i) => (
        <PointMark key={`${i} ${point.name}`} point={point} x={x(i)} step={step} at={y.at} hatching={hatching} />
      ))}
      {points.map(
        ({ name }, i) =>
          (points.length - 1 - i) % every === 0 && (
            <text key={`${i} ${name}`} class="label" {...anchored(x(i), width, room)} y={HEIGHT - 8}>
              {name}
            </text>
          ),
      )}
    </svg>
  );
}

/** A name at the edge stays inside. */
function anchored(x: number, width: number, room: number): { x: number; "text-anchor": "middle" | "end" } {
  return x + room / 2 > width ? { x: width - 1, "text-anchor": "end" } : { x, "text-anchor": "middle" };
}

function PointMark({
  point: { name, value, interval, truth, gap },
  x,
  step,
  at,
  hatching,
}: {
  point: Point;
  x: number;
  step: number;
  at: (value: number) => number;
  hatching: string;
}): JSX.Element {
  if (value === undefined) {
    return (
      <rect fill={`url(#${hatching})`} x={x - step / 2} y={TOP} width={step} height={HEIGHT - BOTTOM - TOP}>
        <title>{`${name}: ${gap}`}</title>
      </rect>
    );
  }
  const cap = Math.min(4, step / 4);
  return (
    <g>
      <title>{name}</title>
      {interval && (
        <path
          class="interval"
          fill="none"
          d={interval.map((end) => `M${x - cap} ${at(end)}h${2 * cap}`).join("") + barOf(x, interval, at)}
        />
      )}
      <circle class="point" cx={x} cy={at(value)} r={Math.min(4, Math.max(2, step / 3))} />
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

function barOf(x: number, [low, high]: readonly [number, number], at: (value: number) => number): string {
  return `M${x} ${at(low)}L${x} ${at(high)}`;
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
