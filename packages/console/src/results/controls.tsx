import { FINISHED_WORDS, type FinishedWindow, toCsv } from "@lethe/analyst";
import type { Release } from "@lethe/core/message";
import type { ComponentChildren, JSX } from "preact";
import { download } from "../chart/download.ts";
import { axisTime } from "../format/time.ts";
import { type Choices, SPANS, type Values } from "./choices.ts";

/** Changes settings of the address. */
export type Change = (changes: Readonly<Record<string, string>>) => void;

/** Everything that the reader can choose for a task, and the exports. */
export function Controls({
  task,
  windows,
  selected,
  described,
  choices,
  change,
}: {
  task: string;
  windows: readonly FinishedWindow[];
  selected: FinishedWindow;
  described: Release | undefined;
  choices: Choices;
  change: Change;
}): JSX.Element {
  const groups = described?.groups ?? [];
  const metrics = described?.metrics ?? [];
  return (
    <form class="controls" aria-label="What is shown" onSubmit={(event) => event.preventDefault()}>
      <WindowChoice windows={windows} selected={selected} change={change} />
      <Choice label="Windows" value={String(choices.last)} onChange={(last) => change({ last })}>
        {SPANS.map((span) => (
          <option key={span} value={String(span)}>
            last {span}
          </option>
        ))}
      </Choice>
      <Choice label="Values" value={choices.values} onChange={(values) => change({ values })}>
        {(["raw", "consistent"] satisfies Values[]).map((values) => (
          <option key={values}>{values}</option>
        ))}
      </Choice>
      {groups.length > 0 && (
        <Choice label="Devices" value={choices.group ?? ""} onChange={(group) => change({ group })}>
          <option value="">all groups</option>
          {groups.map(({ group }) => (
            <option key={group}>{group}</option>
          ))}
        </Choice>
      )}
      {metrics.length > 1 && (
        <Choice label="Metric" value={choices.metric ?? ""} onChange={(metric) => change({ metric })}>
          <option value="">all metrics</option>
          {metrics.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </Choice>
      )}
      <Exports task={task} windows={windows} />
    </form>
  );
}

function Choice({
  label,
  value,
  onChange,
  children,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {children}
      </select>
    </label>
  );
}

/** A list, and buttons for the window before and after. */
function WindowChoice({
  windows,
  selected,
  change,
}: {
  windows: readonly FinishedWindow[];
  selected: FinishedWindow;
  change: Change;
}): JSX.Element {
  const at = windows.indexOf(selected);
  const step = (by: -1 | 1, name: string, sign: string): JSX.Element => {
    const target = windows[at + by];
    return (
      <button
        type="button"
        class="quiet"
        aria-label={name}
        disabled={!target}
        onClick={() => target && change({ window: String(target.window) })}
      >
        {sign}
      </button>
    );
  };
  return (
    <div class="stepper">
      {step(-1, "The window before", "‹")}
      <Choice label="Window" value={String(selected.window)} onChange={(window) => change({ window })}>
        {windows.toReversed().map((window) => (
          <option key={window.window} value={String(window.window)}>
            {axisTime(window.from, window.to - window.from)}
            {window.status === "released" ? "" : `, ${FINISHED_WORDS[window.status]}`}
          </option>
        ))}
      </Choice>
      {step(1, "The window after", "›")}
    </div>
  );
}

/** Files with all windows that were loaded: the same CSV and JSON as the command line prints. */
function Exports({ task, windows }: { task: string; windows: readonly FinishedWindow[] }): JSX.Element {
  const save = (ending: string, type: string, content: string): void =>
    download(`${task}.${ending}`, new Blob([content], { type }));
  return (
    <div class="exports">
      <button type="button" class="quiet" onClick={() => save("csv", "text/csv", toCsv(windows))}>
        CSV
      </button>
      <button
        type="button"
        class="quiet"
        onClick={() => save("json", "application/json", JSON.stringify({ task, windows }, null, 2))}
      >
        JSON
      </button>
    </div>
  );
}
