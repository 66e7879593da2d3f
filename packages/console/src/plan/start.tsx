import type { LetheError } from "@lethe/core/error";
import type { Task } from "@lethe/core/message";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Template } from "../planner/draft-jobs.ts";
import { nextVersionText, templateText } from "./task-text.ts";

const [TEMPLATE, TASK] = ["template ", "task "];

/** Starts the file from a template, or from a task that the service has; what was there can be brought back. */
export function Start({
  templates,
  tasks,
  mode,
  server,
  text,
  onStart,
}: {
  templates: readonly Template[];
  tasks: readonly string[];
  mode: Task["mode"];
  server: string;
  text: string;
  onStart: (text: string) => void;
}): JSX.Element {
  const [chosen, setChosen] = useState(`${TEMPLATE}${templates[0]?.statistic}`);
  const [before, setBefore] = useState<string>();
  const [said, setSaid] = useState("");
  const replace = (next: string, words: string): void => {
    setBefore(text);
    setSaid(words);
    onStart(next);
  };
  const start = async (): Promise<void> => {
    const template = templates.find(({ statistic }) => chosen === TEMPLATE + statistic);
    if (template) return replace(templateText(template, mode), `The file is the template ${template.statistic}.`);
    const task = chosen.slice(TASK.length);
    setSaid(`Fetching ${task} …`);
    try {
      const { fetchManifest } = await import("./at-service.ts");
      const manifest = await fetchManifest(server, task);
      replace(nextVersionText(manifest), `The file is version ${manifest.version + 1} of ${task}.`);
    } catch (error) {
      setSaid((error as LetheError).message);
    }
  };
  return (
    <form
      class="start"
      aria-label="Where to start"
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      <label>
        <span>Start from</span>
        <select value={chosen} onChange={(event) => setChosen(event.currentTarget.value)}>
          <optgroup label="A template">
            {templates.map(({ statistic, question }) => (
              <option key={statistic} value={TEMPLATE + statistic}>
                {statistic}: {question}
              </option>
            ))}
          </optgroup>
          {tasks.length > 0 && (
            <optgroup label="A new version of">
              {tasks.map((task) => (
                <option key={task} value={TASK + task}>
                  {task}
                </option>
              ))}
            </optgroup>
          )}
        </select>
      </label>
      <button type="submit">Start</button>
      <button
        type="button"
        class="quiet"
        disabled={before === undefined}
        onClick={() => {
          if (before !== undefined) onStart(before);
          setBefore(text);
          setSaid("The file is as it was.");
        }}
      >
        Undo
      </button>
      <p class="note" role="status">
        {said}
      </p>
    </form>
  );
}
