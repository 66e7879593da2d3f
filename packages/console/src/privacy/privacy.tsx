/**
 * The view of privacy: what one device pays for a task, per window and over time, against its budget, and what would
 * change that. Everything is computed by core in the planner's worker. Start reading here; `../price` says what an
 * ε means.
 */
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { formatRoute } from "../shell/route.ts";
import { Empty } from "../shell/states.tsx";
import { TokenForm } from "../shell/token-form.tsx";
import type { ViewProps } from "../shell/view.ts";
import { TaskPrivacy } from "./task-privacy.tsx";
import "./privacy.css";

/** The view `privacy`. */
export function Privacy({ service, server, route }: ViewProps): JSX.Element {
  const { tasks } = service;
  const task = route.path[0] ?? tasks?.[0];
  useEffect(() => {
    if (task !== undefined) document.title = `Privacy of ${task} · Lethe`;
  }, [task]);
  if (task === undefined && !tasks) {
    return (
      <>
        <h1>What a device pays</h1>
        <TokenForm reason="The tasks of this service are private, and it refuses this token." />
      </>
    );
  }
  if (task === undefined) {
    return (
      <Empty title="This service collects nothing yet">
        <p>A device pays for the tasks that it answers.</p>
      </Empty>
    );
  }
  const choices = tasks?.includes(task) ? tasks : [task, ...(tasks ?? [])];
  return (
    <>
      <h1>What a device pays</h1>
      {choices.length > 1 && (
        <label class="task-choice">
          Task{" "}
          <select
            value={task}
            onChange={(event) => {
              location.hash = formatRoute({ view: "privacy", path: [event.currentTarget.value] });
            }}
          >
            {choices.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      )}
      <TaskPrivacy key={task} server={server} task={task} now={service.now} />
    </>
  );
}
