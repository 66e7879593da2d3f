import type { WindowState } from "@lethe/core/message";
import type { JSX } from "preact";
import { useId } from "preact/hooks";
import { Hatching } from "../chart/hatching.tsx";
import { useWidth } from "../chart/width.ts";
import { whole } from "../format/number.ts";
import { countsOf, STATE_WORDS, type StripCell, stripText } from "./live.ts";

const [HEIGHT, MOST_WIDE, SPACE, GAP] = [28, 64, 3, 14];

/** A cell per window, oldest first, and what the cells mean. A running window fills up. */
export function WindowStrip({ cells }: { cells: readonly StripCell[] }): JSX.Element {
  const [ref, width] = useWidth(0);
  const gaps = cells.filter(({ isAfterGap }) => isAfterGap).length;
  const step = Math.min(MOST_WIDE, (width - gaps * GAP) / Math.max(1, cells.length));
  let x = -step;
  return (
    <div class="window-strip">
      <svg ref={ref} viewBox={`0 0 ${width} ${HEIGHT}`} height={HEIGHT} role="img" aria-label={stripText(cells)}>
        {cells.map((cell) => {
          x += step + (cell.isAfterGap ? GAP : 0);
          return (
            <g key={cell.window}>
              <title>{`window ${cell.window}: ${STATE_WORDS[cell.state]}`}</title>
              {cell.isAfterGap && (
                <text class="label" x={x - GAP / 2 - SPACE / 2} y={HEIGHT / 2 + 4} text-anchor="middle">
                  …
                </text>
              )}
              <Cell cell={cell} x={x} width={Math.max(1, step - SPACE)} height={HEIGHT} />
            </g>
          );
        })}
      </svg>
      <ul class="states" aria-hidden="true">
        {countsOf(cells).map(({ state, windows }) => (
          <li key={state}>
            <svg viewBox="0 0 14 14" width={14} height={14} role="presentation">
              <Cell cell={{ state, passed: 0.5 }} x={0} width={14} height={14} />
            </svg>
            {whole(windows)} {STATE_WORDS[state]}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** States whose cells are hatched: windows without figures. */
const WITHOUT_FIGURES: readonly WindowState[] = ["not-enough", "lost"];

function Cell({
  cell: { state, passed },
  x,
  width,
  height,
}: {
  cell: Pick<StripCell, "state" | "passed">;
  x: number;
  width: number;
  height: number;
}): JSX.Element {
  const hatching = useId();
  // A border is drawn on the edge, half of it outside.
  const box = { x: x + 1, y: 1, width: Math.max(0, width - 2), height: height - 2, rx: 3 };
  if (WITHOUT_FIGURES.includes(state)) {
    return (
      <>
        <Hatching id={hatching} />
        <rect class={`cell-box ${state}`} {...box} fill={`url(#${hatching})`} />
      </>
    );
  }
  return (
    <>
      {state === "open" && <rect class="passed" {...box} width={passed * box.width} />}
      <rect class={`cell-box ${state}`} {...box} />
    </>
  );
}
