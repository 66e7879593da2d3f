import type { JSX } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import { download } from "../chart/download.ts";
import { LONGEST_IN_ADDRESS } from "./settings.ts";
import { rangeOfProblem } from "./task-text.ts";

/** The task file as a text, with what is wrong with it. */
export function Editor({
  text,
  task,
  problem,
  isChecking,
  onChange,
}: {
  text: string;
  /** Its name, if it has one. */
  task: string | undefined;
  problem: string | undefined;
  isChecking: boolean;
  onChange: (text: string) => void;
}): JSX.Element {
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const range = problem === undefined ? undefined : rangeOfProblem(text, problem);
  return (
    <section class="panel editor" aria-label="Task file">
      <h2>
        <label for={id}>The task file</label>
      </h2>
      <textarea
        id={id}
        ref={area}
        rows={20}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        value={text}
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-verdict`}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <p id={`${id}-verdict`} class={problem === undefined ? "verdict" : "verdict wrong"} role="status">
        {problem ?? (isChecking ? "Checking the file …" : "The file is correct: a service can run it as it is.")}
      </p>
      <div class="actions">
        <button
          type="button"
          class="quiet"
          disabled={!range}
          onClick={() => {
            area.current?.focus();
            if (range) area.current?.setSelectionRange(range.from, range.to);
          }}
        >
          Go to the mistake
        </button>
        <CopyButton text={text} area={area} />
        <button
          type="button"
          class="quiet"
          onClick={() => download(`${task ?? "task"}.json`, new Blob([text], { type: "application/json" }))}
        >
          Download
        </button>
      </div>
      {text.length > LONGEST_IN_ADDRESS && (
        <p class="note">This file is too long for an address: to share it, send the file.</p>
      )}
    </section>
  );
}

function CopyButton({
  text,
  area,
}: {
  text: string;
  area: { readonly current: HTMLTextAreaElement | null };
}): JSX.Element {
  const [copied, setCopied] = useState<string>();
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(text);
    } catch {
      // Pages that came without TLS have no clipboard: the reader copies what is selected.
      area.current?.focus();
      area.current?.select();
    }
  };
  return (
    <button type="button" class="quiet" onClick={() => void copy()}>
      {copied === text ? "Copied" : "Copy"}
    </button>
  );
}
