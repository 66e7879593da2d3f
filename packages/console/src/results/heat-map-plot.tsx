import type { JSX } from "preact";
import { shortened } from "../chart/bars.tsx";
import { useWidth } from "../chart/width.ts";
import { whole } from "../format/number.ts";
import type { HeatMap } from "./heat-map.ts";

const [ROW, HEAD, LEGEND] = [40, 28, 44];
const LETTER = 7.2;
const LEAST_COLUMN = 54;

/** A table of pairs whose cells are the darker the more devices they have, with sums at the edges and a colour scale. */
export function HeatMapPlot({ map }: { map: HeatMap }): JSX.Element {
  const { rows, columns, cells, rowSums, columnSums, most } = map;
  const longest = rows.reduce((length, name) => Math.max(length, name.length), 5);
  const left = Math.min(150, 14 + LETTER * longest);
  const [ref, width] = useWidth(left + LEAST_COLUMN * (columns.length + 1));
  const step = (width - left) / (columns.length + 1);
  const x = (column: number): number => left + column * step;
  const y = (row: number): number => HEAD + row * ROW;
  const height = y(rows.length + 1) + LEGEND;
  const text = (column: number, row: number, shown: string, kind: string): JSX.Element => (
    <text class={kind} x={x(column) + step / 2} y={y(row) + ROW / 2} text-anchor="middle" dominant-baseline="middle">
      {shown}
    </text>
  );
  return (
    <svg ref={ref} viewBox={`0 0 ${width} ${height}`} width={width} role="presentation">
      {[...columns, "sum"].map((name, i) => (
        <text key={name} class="label" x={x(i) + step / 2} y={HEAD - 10} text-anchor="middle">
          {shortened(name, Math.floor(step / LETTER))}
        </text>
      ))}
      {[...rows, "sum"].map((name, i) => (
        <text key={name} class="label" x={left - 8} y={y(i) + ROW / 2} text-anchor="end" dominant-baseline="middle">
          {shortened(name, Math.floor((left - 8) / LETTER))}
        </text>
      ))}
      {cells.map(({ row, column, value, heat }) => {
        const [r, c] = [rows.indexOf(row), columns.indexOf(column)];
        return (
          <g key={`${row} ${column}`}>
            <rect class="empty" x={x(c) + 1} y={y(r) + 1} width={step - 2} height={ROW - 2} rx="3" />
            <rect
              class="heat"
              style={{ "--heat": heat.toFixed(3) }}
              x={x(c) + 1}
              y={y(r) + 1}
              width={step - 2}
              height={ROW - 2}
              rx="3"
            />
            {text(c, r, whole(value), "cell")}
          </g>
        );
      })}
      {rowSums.map((sum, r) => sum !== undefined && text(columns.length, r, whole(sum), "label"))}
      {columnSums.map((sum, c) => sum !== undefined && text(c, rows.length, whole(sum), "label"))}
      <Legend x={left} y={height - LEGEND + 14} width={Math.min(220, width - left - 8)} most={most} />
    </svg>
  );
}

const SHADES = 10;

function Legend({ x, y, width, most }: { x: number; y: number; width: number; most: number }): JSX.Element {
  const each = width / SHADES;
  return (
    <g>
      {Array.from({ length: SHADES }, (_, i) => (
        <rect
          key={i}
          class="heat"
          style={{ "--heat": String(i / (SHADES - 1)) }}
          x={x + i * each}
          y={y}
          width={each}
          height={8}
        />
      ))}
      <text class="label" x={x} y={y + 24}>
        0
      </text>
      <text class="label" x={x + width} y={y + 24} text-anchor="end">
        {whole(most)} devices
      </text>
    </g>
  );
}
