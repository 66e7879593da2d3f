import type { JSX } from "preact";
import { shortened } from "../chart/bars.tsx";
import { useWidth } from "../chart/width.ts";
import { percent, whole } from "../format/number.ts";
import type { Step } from "./funnel.ts";

const [ROW, BAR] = [64, 34];
const LETTER = 7.2;

/** Steps below each other, each as wide as its number of devices, with what is left of the first. */
export function FunnelPlot({ steps }: { steps: readonly Step[] }): JSX.Element {
  const [ref, width] = useWidth();
  const right = 96;
  const room = width - right - 8;
  const most = Math.max(1e-9, ...steps.map(({ value }) => value));
  const at = (value: number): number => (room * Math.max(0, Math.min(value, 1.15 * most))) / (1.15 * most);
  return (
    <svg ref={ref} viewBox={`0 0 ${width} ${steps.length * ROW}`} role="presentation">
      {steps.map(({ name, value, interval: [low, high], ofFirst }, i) => {
        const top = i * ROW + 22;
        const middle = top + BAR / 2;
        const next = steps[i + 1];
        return (
          <g key={name}>
            {next && <path class="flow" d={`M0 ${top + BAR}H${at(value)}L${at(next.value)} ${top + ROW}H0Z`} />}
            <text class="label name" x={0} y={top - 7}>
              {shortened(name, Math.floor(width / LETTER))}
            </text>
            <rect class="bar" x={0} y={top} width={at(value)} height={BAR} />
            <path
              class="interval"
              fill="none"
              d={`M${at(low)} ${middle}H${at(high)}M${at(low)} ${middle - 5}v10M${at(high)} ${middle - 5}v10`}
            />
            <text class="label value" x={width} y={middle} text-anchor="end" dominant-baseline="middle">
              {whole(value)}
              {i > 0 && ofFirst !== undefined ? ` · ${percent(ofFirst, 0)}` : ""}
            </text>
          </g>
        );
      })}
    </svg>
  );
}
