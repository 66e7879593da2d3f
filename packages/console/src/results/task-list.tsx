import { FINISHED_WORDS, type FinishedWindow } from "@lethe/analyst";
import type { JSX } from "preact";
import { whole } from "../format/number.ts";
import { dateAndTime, duration } from "../format/time.ts";
import { useLoaded } from "../shell/load.ts";
import { formatRoute } from "../shell/route.ts";
import { Empty } from "../shell/states.tsx";
import { fetchWindows } from "./fetch.ts";

/** The windows that a task's card shows. */
const SHOWN = 14;

/** All tasks of a service, each with what became of its last windows. */
export function TaskList({
  server,
  token,
  tasks,
}: {
  server: string;
  token: string | undefined;
  tasks: readonly string[];
}): JSX.Element {
  if (tasks.length === 0) return <NoTasks />;
  return (
    <>
      <h1>Results</h1>
      <ul class="grid tasks">
        {tasks.map((task) => (
          <li key={task} class="panel">
            <h2>
              <a href={formatRoute({ view: "results", path: [task] })}>{task}</a>
            </h2>
            <TaskNews server={server} token={token} task={task} />
          </li>
        ))}
      </ul>
    </>
  );
}

function NoTasks(): JSX.Element {
  return (
    <Empty title="This service collects nothing yet">
      <p>
        A task says what devices count, for how long, and with how much noise.{" "}
        <a href={formatRoute({ view: "plan" })}>Plan one and create it here</a>, or on the command line:
      </p>
      <pre>npx lethe task create task.json --server {location.origin}</pre>
    </Empty>
  );
}

function TaskNews({ server, token, task }: { server: string; token: string | undefined; task: string }): JSX.Element {
  const loaded = useLoaded(() => fetchWindows({ server, token, task }, SHOWN), [server, token, task]);
  if (loaded.state === "loading") return <p class="news muted">Loading …</p>;
  if (loaded.state === "failed") return <p class="news muted">{loaded.failure.message}</p>;
  const newest = loaded.value.at(-1);
  if (!newest) return <p class="news muted">No window is finished yet.</p>;
  return (
    <div class="news">
      <WindowStrip windows={loaded.value} />
      <p class="muted">{newsOf(newest)}</p>
    </div>
  );
}

function newsOf(newest: FinishedWindow): string {
  const { from, to } = newest;
  const reports = newest.status === "not-released" ? "" : `; ${whole(newest.received)} devices reported`;
  return `Windows of ${duration(to - from)}. The newest ended ${dateAndTime(to)}${reports}.`;
}

/** A small square per window: filled if it was released, hatched if not. Says the same in words. */
function WindowStrip({ windows }: { windows: readonly FinishedWindow[] }): JSX.Element {
  const released = windows.filter(({ status }) => status === "released").length;
  return (
    <p class="strip" role="img" aria-label={`${released} of the last ${windows.length} windows were released`}>
      {windows.map(({ window, status }) => (
        <span key={window} class={status} title={`window ${window}: ${FINISHED_WORDS[status]}`} />
      ))}
    </p>
  );
}
