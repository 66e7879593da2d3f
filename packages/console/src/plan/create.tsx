import type { CreatedTask } from "@lethe/analyst";
import { LetheError } from "@lethe/core/error";
import type { Task } from "@lethe/core/message";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { dateAndTime } from "../format/time.ts";
import { formatRoute } from "../shell/route.ts";
import { TokenForm } from "../shell/token-form.tsx";

type Outcome =
  | { readonly state: "none" | "sending" }
  | { readonly state: "created"; readonly created: CreatedTask }
  | { readonly state: "failed"; readonly failure: LetheError };

/** Creates the task at the service of this page, with the admin token of this tab. */
export function Create({
  server,
  token,
  task,
  onCreated,
}: {
  server: string;
  token: string | undefined;
  /** Undefined while the file is wrong, or is not checked yet. */
  task: Task | undefined;
  onCreated: () => void;
}): JSX.Element {
  const [outcome, setOutcome] = useState<Outcome>({ state: "none" });
  const key = JSON.stringify(task);
  useEffect(() => setOutcome({ state: "none" }), [key, token]);
  const create = async (): Promise<void> => {
    if (!task || token === undefined) return;
    setOutcome({ state: "sending" });
    try {
      const { createTask } = await import("./at-service.ts");
      setOutcome({ state: "created", created: await createTask(server, token, task) });
      onCreated();
    } catch (error) {
      const failure = error instanceof LetheError ? error : new LetheError("service-failed", String(error));
      setOutcome({ state: "failed", failure });
    }
  };
  const isRefused = outcome.state === "failed" && outcome.failure.code === "unauthorized";
  if (token === undefined || isRefused) {
    return (
      <section class="panel create" aria-label="Create the task">
        <TokenForm
          title="Creating a task needs the admin token"
          {...(isRefused && { reason: outcome.failure.message })}
        />
      </section>
    );
  }
  return (
    <section class="panel create" aria-label="Create the task">
      <h2>Create the task</h2>
      <p>
        The service at <code>{server}</code> then asks devices for it, from the next window on. A task never changes: a
        change is a new version.
      </p>
      <button type="button" disabled={!task || outcome.state === "sending"} onClick={() => void create()}>
        {task ? `Create ${task.task}, version ${task.version}` : "Correct the file first"}
      </button>
      <div class="outcome" role="status">
        {outcome.state === "sending" && <p>Creating it …</p>}
        {outcome.state === "created" && <Created {...outcome.created} />}
        {outcome.state === "failed" && <p class="wrong">{outcome.failure.message}</p>}
      </div>
    </section>
  );
}

function Created({ isNew, manifest }: CreatedTask): JSX.Element {
  const { task, version, fromWindow, ticks, tickSeconds } = manifest;
  const path = [task];
  return (
    <>
      <p>
        {isNew
          ? `The service has created version ${version} of ${task}.`
          : `The service had this very version ${version} of ${task} already.`}{" "}
        Its first window begins {dateAndTime(fromWindow * ticks * tickSeconds)}.
      </p>
      <p>
        <a href={formatRoute({ view: "results", path })}>Results of {task}</a> ·{" "}
        <a href={formatRoute({ view: "privacy", path })}>What a device pays for {task}</a>
      </p>
    </>
  );
}
