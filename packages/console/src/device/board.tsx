import { type Round, SIDES, type Side } from "@lethe/lab/duel";
import type { JSX } from "preact";
import { DataTable, type TableData } from "../chart/figure.tsx";
import { whole } from "../format/number.ts";
import { type Frame, framesOf } from "./frames.ts";
import { DEVICE_NAMES } from "./opponents.ts";
import { StoredPicture } from "./stored-picture.tsx";

/** Both devices of a round, tick by tick, each with a button to name it. */
export function Board({
  round,
  isBusy,
  onGuess,
}: {
  round: Round;
  isBusy: boolean;
  onGuess: (side: Side) => void;
}): JSX.Element {
  const frames = { left: framesOf(round.seen.left), right: framesOf(round.seen.right) };
  return (
    <>
      <div class="duellists">
        {SIDES.map((side) => (
          <figure key={side} class="duellist">
            <figcaption>
              <h3>What {DEVICE_NAMES[side]} stored</h3>
            </figcaption>
            <div class="frames">
              {frames[side].map((frame, tick) => (
                <div key={tick}>
                  <StoredPicture bytes={frame.bytes} before={frame.before} label={labelOf(tick, frame)} />
                  <p class="muted">tick {tick + 1}</p>
                </div>
              ))}
            </div>
            <button type="button" aria-disabled={isBusy} onClick={() => onGuess(side)}>
              It was {DEVICE_NAMES[side]}
            </button>
          </figure>
        ))}
      </div>
      <details>
        <summary>The same as a table</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard. */}
        <section class="scroll" aria-label="The round as a table" tabIndex={0}>
          <DataTable caption="What both devices stored, tick by tick" {...tableOf(frames)} />
        </section>
      </details>
    </>
  );
}

function labelOf(tick: number, { bytes, writes, changed }: Frame): string {
  return `Tick ${tick + 1}: ${whole(bytes.length)} bytes, ${whole(writes)} writes, ${whole(changed)} bytes changed`;
}

function tableOf(frames: Readonly<Record<Side, readonly Frame[]>>): TableData {
  return {
    columns: [
      "tick",
      ...SIDES.flatMap((side) => ["bytes", "writes", "changed bytes"].map((what) => `${DEVICE_NAMES[side]}: ${what}`)),
    ],
    rows: frames.left.map((_, tick) => [
      whole(tick + 1),
      ...SIDES.flatMap((side) => {
        const { bytes, writes, changed } = frames[side][tick] as Frame;
        return [whole(bytes.length), whole(writes), whole(changed)];
      }),
    ]),
  };
}
