import type { FinishedWindow } from "@lethe/analyst";
import type { Release } from "@lethe/core/message";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { useLive } from "../demonstration/live.ts";
import { LiveStrip } from "../demonstration/live-strip.tsx";
import { type Truths, truthsOf } from "../demonstration/truth.ts";
import { whole } from "../format/number.ts";
import { dateAndTime, duration } from "../format/time.ts";
import { lastOf, useLoaded } from "../shell/load.ts";
import { changeQuery, formatRoute, type Route } from "../shell/route.ts";
import { Await, Empty } from "../shell/states.tsx";
import type { Choices } from "./choices.ts";
import { Controls } from "./controls.tsx";
import { fetchWindows, type Source } from "./fetch.ts";
import { TRUTH_COLUMN } from "./figures.ts";
import { MetricSection } from "./metric-section.tsx";
import { Unfinished } from "./unfinished.tsx";
import { WindowSummary } from "./window-summary.tsx";

/** More metrics than this make a page that nobody reads; the reader chooses one. */
const MOST_METRICS = 12;

/** The results of one task. */
export function TaskResults({
  source,
  choices,
  route,
  isOnly,
  clockAhead,
  isDemonstration,
}: {
  source: Source;
  choices: Choices;
  route: Route;
  isOnly: boolean;
  /** By how many seconds the service's clock is ahead of the reader's. */
  clockAhead: number;
  /** Whether somebody knows what really happened, because the devices are simulated. */
  isDemonstration: boolean;
}): JSX.Element {
  const { server, token, task } = source;
  const loaded = useLoaded(() => fetchWindows(source, choices.last), [server, token, task, choices.last]);
  useEffect(() => {
    document.title = `${task} · Lethe`;
  }, [task]);
  const newest = loaded.state === "there" ? loaded.value.at(-1) : undefined;
  const live = useLive(source, isDemonstration, loaded.again);
  const last = lastOf(loaded).value;
  // When a demonstration ends, its figures stay.
  const shown = last && live !== "no-demonstration" ? { ...loaded, state: "there" as const, value: last } : loaded;
  const truths = live === "no-demonstration" ? undefined : truthsOf(live);
  return (
    <>
      <header class="task-head">
        {!isOnly && (
          <p class="crumb">
            <a href={formatRoute({ view: "results" })}>All tasks</a>
          </p>
        )}
        <h1>{task}</h1>
      </header>
      {live !== "no-demonstration" && <LiveStrip live={live} />}
      {loaded.state === "there" && live === "no-demonstration" && (
        <Unfinished source={source} newest={newest} clockAhead={clockAhead} onFinished={loaded.again} />
      )}
      <Await loaded={shown} what={`the results of ${task}`}>
        {(windows) =>
          windows.length > 0 ? (
            <Windows windows={windows} choices={choices} route={route} task={task} truths={truths} />
          ) : (
            truths && <Empty title="No window is released yet">The first figures appear here by themselves.</Empty>
          )
        }
      </Await>
    </>
  );
}

function Windows({
  windows,
  choices,
  route,
  task,
  truths,
}: {
  windows: readonly FinishedWindow[];
  choices: Choices;
  route: Route;
  task: string;
  truths: Truths | undefined;
}): JSX.Element | null {
  const newestRelease = windows.findLast((window) => window.status === "released");
  const selected = windows.find(({ window }) => window === choices.window) ?? newestRelease ?? windows.at(-1);
  const described = selected?.status === "released" ? selected : newestRelease;
  if (!selected) return null;
  const metrics = described?.metrics.filter(({ name }) => (choices.metric ?? name) === name) ?? [];
  const hidden = metrics.length - MOST_METRICS;
  const change = (changes: Readonly<Record<string, string>>): void => changeQuery(route, changes);
  return (
    <>
      <p class="muted">
        {spanSentence(windows)} {described && groupSentence(described)}{" "}
        {truths && <span class="truth-key">{TRUTH_COLUMN}</span>}
      </p>
      <Controls
        task={task}
        windows={windows}
        selected={selected}
        described={described}
        choices={choices}
        change={change}
      />
      <WindowSummary window={selected} />
      {metrics.slice(0, MOST_METRICS).map((metric) => (
        <MetricSection
          key={`${metric.name} ${metric.statistic}`}
          name={metric.name}
          described={described as Release}
          windows={windows}
          selected={selected}
          choices={choices}
          query={route.query}
          change={change}
          truths={truths}
        />
      ))}
      {hidden > 0 && (
        <p class="panel">{whole(hidden)} more metrics are not drawn: choose one under “Metric”, or export them all.</p>
      )}
    </>
  );
}

function spanSentence(windows: readonly FinishedWindow[]): string {
  const [first, last] = [windows[0], windows.at(-1)];
  if (!first || !last) return "";
  const what = windows.length === 1 ? "One window" : `${whole(windows.length)} windows`;
  return `${what} of ${duration(last.to - last.from)} until ${dateAndTime(last.to, last.to - last.from)}. Error bars are 95% intervals; they contain the noise that protects devices.`;
}

function groupSentence({ groups }: Release): string {
  return groups ? `Devices are in ${whole(groups.length)} groups.` : "";
}
