import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { DataTable, type TableData } from "../chart/figure.tsx";
import { percent, whole } from "../format/number.ts";
import type { Observation, Seen } from "./observation.ts";
import type { OrdinaryCounter } from "./ordinary-counter.ts";
import { changedShare } from "./picture.ts";
import { RecordButtons } from "./record-buttons.tsx";
import type { RunningDevice } from "./running-device.ts";
import { StoredPicture } from "./stored-picture.tsx";
import { useLooks } from "./use-looks.ts";

/** What a device and an ordinary counter store, side by side, with buttons that record events on both. */
export function DevicePanel({
  device,
  advance,
  stepLabel,
  onRecorded,
  onGone,
  onWipe,
  status,
}: {
  device: RunningDevice;
  advance: () => Promise<boolean>;
  /** What a step is, if the pictures do not change by themselves. */
  stepLabel: string;
  /** Called when an event was counted. */
  onRecorded?: () => void;
  onGone: () => void;
  onWipe: () => void;
  /** Where the device is in its window, after every look. */
  status: () => ComponentChildren;
}): JSX.Element {
  const looks = useLooks(device, advance, onGone);
  const [news, setNews] = useState("");
  const [newest] = looks.observations;
  const counter = counterNow(newest, looks.counter);
  const record = (name: string): void => {
    const problem = looks.record(name);
    setNews(problem === undefined ? recordedSentence(name) : `The device did not count ${name}: ${problem}`);
    if (problem === undefined) onRecorded?.();
  };
  return (
    <div class="panel">
      <RecordButtons events={device.events} isDisabled={!looks.isCounting} onRecord={record} />
      <p class="news" role="status">
        {news || "Nothing recorded yet."}
      </p>
      <div class="stores" aria-busy={looks.isStepping}>
        <Store title="What the Lethe device stored" seen={newest?.device} />
        <Store title="What an ordinary counter stored" seen={counter} />
        <figure class="store">
          <figcaption>
            <h3>The counter's file as text</h3>
          </figcaption>
          <pre class="counter">{looks.counter.text}</pre>
        </figure>
      </div>
      <p class="muted">
        Every byte is a square. Bright ones changed since the tick before. Grey ones did not: on the Lethe device these
        are keys, which it has for a whole window. Black is free space.
      </p>
      <div class="steps">
        <button
          type="button"
          class="quiet"
          aria-pressed={!looks.isRunning}
          onClick={() => looks.setRunning(!looks.isRunning)}
        >
          Pause
        </button>
        <button type="button" class="quiet" onClick={() => void looks.step()}>
          {stepLabel}
        </button>
        <button type="button" class="quiet" onClick={onWipe}>
          Wipe what this device stored
        </button>
      </div>
      {status()}
      <DataTable caption="Both stores in numbers" {...factsOf(newest?.device, counter)} />
      <details>
        <summary>The last ticks as a table</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard. */}
        <section class="scroll" aria-label="The last ticks as a table" tabIndex={0}>
          <DataTable caption="What changed from tick to tick" {...historyOf(looks.observations)} />
        </section>
      </details>
    </div>
  );
}

function recordedSentence(name: string): string {
  return `You recorded ${name}. The counter has written it down. The device writes at its next tick, as it does without an event.`;
}

/** What the counter has now: it may have written since the last look. */
function counterNow(newest: Observation | undefined, { bytes, writes }: OrdinaryCounter): Seen {
  if (!newest) return { bytes, writes };
  if (newest.counter.writes === writes) return newest.counter;
  const before = newest.counter.bytes;
  return { bytes, writes, before, changed: changedShare(bytes, before) };
}

function Store({ title, seen }: { title: string; seen: Seen | undefined }): JSX.Element {
  return (
    <figure class="store">
      <figcaption>
        <h3>{title}</h3>
      </figcaption>
      <StoredPicture bytes={seen?.bytes} before={seen?.before} label={labelOf(seen)} />
    </figure>
  );
}

function labelOf(seen: Seen | undefined): string {
  if (!seen) return "Nothing is stored yet";
  return `${whole(seen.bytes.length)} bytes; changed since the tick before: ${changedText(seen)}`;
}

function changedText({ changed }: Seen): string {
  return changed === undefined ? "all" : percent(changed);
}

function factsOf(device: Seen | undefined, counter: Seen): TableData {
  const both = (text: (seen: Seen) => string): string[] => [device ? text(device) : "–", text(counter)];
  return {
    columns: ["stored", "Lethe device", "ordinary counter"],
    rows: [
      ["Bytes", ...both(({ bytes }) => whole(bytes.length))],
      ["Writes", ...both(({ writes }) => whole(writes))],
      ["Bytes that changed since the tick before", ...both(changedText)],
    ],
  };
}

function historyOf(observations: readonly Observation[]): TableData {
  return {
    columns: ["look", "you recorded", "device: bytes", "device: changed", "counter: bytes", "counter: changed"],
    rows: observations.map(({ number, recorded, device, counter }) => [
      whole(number),
      whole(recorded),
      ...[device, counter].flatMap((seen) => [whole(seen.bytes.length), changedText(seen)]),
    ]),
  };
}
