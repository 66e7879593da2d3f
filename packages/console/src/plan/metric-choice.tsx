import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Template } from "../planner/draft-jobs.ts";
import type { Settings } from "./settings.ts";
import { type Draft, withMetric, withoutMetric } from "./task-text.ts";

/** Which metric the page is about; adds and removes metrics. */
export function MetricChoice({
  text,
  draft,
  metric,
  templates,
  change,
}: {
  text: string;
  draft: Draft | undefined;
  metric: number;
  templates: readonly Template[];
  change: (changes: Partial<Settings>) => void;
}): JSX.Element {
  const [added, setAdded] = useState<string>(templates[0]?.statistic ?? "");
  const metrics = draft?.metrics ?? [];
  const select = (index: number, changed = text): void => change({ text: changed, metric: index, detect: undefined });
  const add = (): void => {
    const template = templates.find(({ statistic }) => statistic === added);
    if (template) select(metrics.length, withMetric(text, template.metric));
  };
  return (
    <fieldset class="metric-choice" disabled={!draft}>
      <legend class="visually-hidden">Metrics of the file</legend>
      <label>
        <span>Metric</span>
        <select value={String(metric)} onChange={(event) => select(Number(event.currentTarget.value))}>
          {metrics.map(({ name }, i) => (
            <option key={`${i} ${name}`} value={String(i)}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        class="quiet"
        disabled={metrics.length < 2}
        onClick={() => select(Math.max(0, metric - 1), withoutMetric(text, metric))}
      >
        Remove it
      </button>
      <label>
        <span>Another metric</span>
        <select value={added} onChange={(event) => setAdded(event.currentTarget.value)}>
          {templates.map(({ statistic }) => (
            <option key={statistic}>{statistic}</option>
          ))}
        </select>
      </label>
      <button type="button" class="quiet" onClick={add}>
        Add it
      </button>
    </fieldset>
  );
}
