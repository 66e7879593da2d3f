/**
 * The view of results: all tasks, or one task with the trend of every metric, the figures of a window, and its groups.
 * `choices.ts` has what the reader can choose, all of which is in the address; `fetch.ts` gets windows through
 * `@lethe/analyst`. `figures.ts`, `sentences.ts`, `funnel.ts` and `heat-map.ts` turn releases into what is drawn and
 * said, without a page. In a demonstration, `../demonstration` knows what really happened. Start reading at
 * `task-results.tsx`.
 */
import type { JSX } from "preact";
import { Empty } from "../shell/states.tsx";
import { TokenForm } from "../shell/token-form.tsx";
import type { ViewProps } from "../shell/view.ts";
import { choicesOf } from "./choices.ts";
import { TaskList } from "./task-list.tsx";
import { TaskResults } from "./task-results.tsx";
import "./results.css";

/** The view `results`. */
export function Results({ service, clockAhead, server, token, route }: ViewProps): JSX.Element {
  const choices = choicesOf(route);
  const { tasks } = service;
  if (service.role === "helper") return <OnlyShares />;
  if (!tasks) {
    return (
      <>
        <h1>Results</h1>
        <TokenForm reason="The results of this service are private, and it refuses this token." />
      </>
    );
  }
  const [only] = tasks;
  const task = choices.task ?? (tasks.length === 1 ? only : undefined);
  if (task === undefined) return <TaskList server={server} token={token} tasks={tasks} />;
  return (
    <TaskResults
      key={task}
      source={{ server, token, task }}
      choices={choices}
      route={route}
      isOnly={tasks.length <= 1}
      clockAhead={clockAhead}
      isDemonstration={service.hasDemonstration ?? false}
    />
  );
}

function OnlyShares(): JSX.Element {
  return (
    <Empty title="The results are in the console of the leader">
      <p>
        This server is a helper. It publishes its share of every window, which says nothing alone. The console of its
        leader puts the shares of both servers together, and so does <code>npx lethe collect</code>.
      </p>
    </Empty>
  );
}
