import { fetchReleases, type PublishedWindow } from "@lethe/analyst";
import { figuresOf, type Manifest } from "@lethe/core/message";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { DataTable } from "../chart/figure.tsx";
import { duration } from "../format/time.ts";
import { useLoaded } from "../shell/load.ts";
import { useNow } from "../shell/now.ts";
import { formatRoute } from "../shell/route.ts";
import { figureName, figureText, lengthOf, MOST_FIGURES, publishedSentence, windowNames } from "./release-sentences.ts";
import type { JoinedDevice } from "./running-device.ts";

/** After this time, another tab may be the one that counts. */
const LONG_MS = 10_000;

/** Where a device is in its window, or what it waits for. */
export function Countdown({ device }: { device: JoinedDevice }): JSX.Element {
  const [opened] = useState(Date.now);
  const now = useNow();
  const problem = device.problem();
  if (device.isCounting()) {
    const length = lengthOf(device.manifest);
    const window = Math.floor(now / 1000 / length);
    return (
      <p class="countdown">
        Window {window} ends in {duration(Math.ceil((window + 1) * length - now / 1000))}. Keep this page open until
        then: the device sends its report when the window has ended.
      </p>
    );
  }
  const waiting =
    now - opened < LONG_MS
      ? "The device asks the service for keys …"
      : "The device still waits for keys. If this task is open in another tab, use that one.";
  return <p class="countdown">{problem ?? waiting}</p>;
}

/** Published windows that are looked at. */
const SHOWN = 10;
const [LEAST_PAUSE_MS, MOST_PAUSE_MS] = [1000, 30_000];

/** The windows in which the visitor recorded something, with their releases as they come. Only this page knows them. */
export function Releases({
  server,
  token,
  manifest,
  clickedIn,
}: {
  server: string;
  token: string | undefined;
  manifest: Manifest;
  clickedIn: readonly (readonly number[])[];
}): JSX.Element {
  const pause = Math.min(MOST_PAUSE_MS, Math.max(LEAST_PAUSE_MS, 50 * lengthOf(manifest)));
  const hasClicked = clickedIn.length > 0;
  const loaded = useLoaded(
    async () => (hasClicked ? fetchReleases(server, manifest.task, { limit: SHOWN, token }) : []),
    [server, token, manifest.task, hasClicked],
    { everyMilliseconds: pause },
  );
  const published = (loaded.state === "there" ? loaded.value : loaded.state === "failed" && loaded.last) || [];
  return (
    <section class="panel releases" aria-label="What the service learns">
      <h3>What the service learns</h3>
      <p class="muted">
        This page alone remembers in which windows you pressed a button, to point out their releases. The SDK does not.
      </p>
      {loaded.state === "failed" && <p>{loaded.failure.message}</p>}
      {!hasClicked && <p>Nothing yet: you have recorded nothing.</p>}
      <ul aria-live="polite">
        {clickedIn.map((windows) => (
          <li key={windows.join()}>
            <Outcome windows={windows} found={published.find(({ window }) => window === windows.at(-1))} />
          </li>
        ))}
      </ul>
      <p>
        <a href={formatRoute({ view: "results", path: [manifest.task] })}>All results of {manifest.task}</a>
      </p>
    </section>
  );
}

function Outcome({ windows, found }: { windows: readonly number[]; found: PublishedWindow | undefined }): JSX.Element {
  if (!found) return <p>What you recorded is in the release of {windowNames(windows)}, which is not out yet.</p>;
  const figures = found.status === "released" ? found.metrics.flatMap(rowsOf) : [];
  return (
    <>
      <p>
        <strong>{publishedSentence(found, windows)}</strong>
      </p>
      {figures.length > 0 && (
        <DataTable
          caption={`The release of window ${found.window}`}
          columns={["metric", "estimate ± standard error"]}
          rows={figures.slice(0, MOST_FIGURES)}
        />
      )}
    </>
  );
}

function rowsOf(metric: Parameters<typeof figuresOf>[0]): [string, { text: string; value: number }][] {
  return figuresOf(metric).map(({ label, figure }) => [
    figureName(metric, label),
    { text: figureText(figure), value: figure.estimate },
  ]);
}
