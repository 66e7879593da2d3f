import type { Manifest, ServiceInfo } from "@lethe/core/message";
import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { duration } from "../format/time.ts";
import { useLoaded } from "../shell/load.ts";
import { changeQuery, type Route } from "../shell/route.ts";
import { Await, Empty, Failure, Loading } from "../shell/states.tsx";
import { DevicePanel } from "./device-panel.tsx";
import { Ended } from "./ended.tsx";
import { countedIn, lengthOf, withClick } from "./release-sentences.ts";
import { Countdown, Releases } from "./releases.tsx";
import type { JoinedDevice } from "./running-device.ts";
import { useDevice } from "./use-device.ts";

/** A device of a task of this service. It joins when the visitor says so: it is counted like any other device. */
export function JoinedSection({
  task,
  service,
  clockAhead,
  server,
  route,
  token,
}: {
  task: string;
  service: ServiceInfo;
  clockAhead: number;
  server: string;
  route: Route;
  token: string | undefined;
}): JSX.Element {
  const loaded = useLoaded(async () => (await import("./joined-device.ts")).fetchTask(server, task), [server, task]);
  const [isJoined, setJoined] = useState(false);
  const { operatorKey } = service;
  const section = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    // The button that joined is gone.
    if (isJoined) section.current?.focus({ preventScroll: true });
  }, [isJoined]);
  return (
    <section class="inside" aria-label={`A device of ${task}`} ref={section} tabIndex={-1}>
      <h2>A device of the task {task}</h2>
      {operatorKey === undefined ? (
        <Empty title="This service has no operator key yet">
          <p>Devices check its signature with that key. It is there when the service has its first task.</p>
        </Empty>
      ) : service.hasDemonstration && Math.abs(clockAhead) > MOST_APART ? (
        <Empty title="This browser cannot join: the service simulates its time">
          <p>
            In this demonstration windows pass within seconds, and your browser's clock does not. To see your own event
            in a release, run <code>npx lethe try</code>.
          </p>
        </Empty>
      ) : (
        <Await loaded={loaded} what={`the task ${task}`}>
          {(manifest) =>
            isJoined ? (
              <Joined {...{ manifest, server, token, operatorKey }} group={groupOf(manifest, route)} />
            ) : (
              <Invitation manifest={manifest} route={route} onJoin={() => setJoined(true)} />
            )
          }
        </Await>
      )}
    </section>
  );
}

/** In seconds: clocks that differ by more are not of the same time. */
const MOST_APART = 60;

function groupOf({ groups }: Manifest, { query }: Route): string | undefined {
  return groups?.find((group) => group === query.group) ?? groups?.[0];
}

function Invitation({
  manifest,
  route,
  onJoin,
}: {
  manifest: Manifest;
  route: Route;
  onJoin: () => void;
}): JSX.Element {
  const { groups, tickSeconds, ticks } = manifest;
  return (
    <div class="panel">
      <p>
        If you join, this browser becomes one of the task's devices: what you press is counted, and reported with noise
        when the window ends. A tick takes {duration(tickSeconds)}, a window {duration(tickSeconds * ticks)}. The
        picture changes at every tick, and 1, 5 and 20 seconds after the device began to count.
      </p>
      {groups && (
        <label>
          Group{" "}
          <select
            value={groupOf(manifest, route)}
            onChange={(event) => changeQuery(route, { group: event.currentTarget.value })}
          >
            {groups.map((group) => (
              <option key={group}>{group}</option>
            ))}
          </select>
        </label>
      )}
      <button type="button" onClick={onJoin}>
        Join this task
      </button>
    </div>
  );
}

function Joined({
  manifest,
  server,
  token,
  operatorKey,
  group,
}: {
  manifest: Manifest;
  server: string;
  token: string | undefined;
  operatorKey: string;
  group: string | undefined;
}): JSX.Element {
  const { life, end, again } = useDevice(async (): Promise<JoinedDevice> => {
    return (await import("./joined-device.ts")).joinTask({ server, operatorKey, manifest, group });
  });
  const [clickedIn, setClickedIn] = useState<readonly (readonly number[])[]>([]);
  if (life.state === "opening") return <Loading what="the device" />;
  if (life.state === "failed") return <Failure failure={life.failure} again={again} />;
  if (life.state === "ended") return <Ended why={life.why} again={again} />;
  return (
    <>
      <DevicePanel
        device={life.device}
        advance={async () => true}
        stepLabel="Look again"
        onRecorded={() => setClickedIn((all) => withClick(all, countedIn(lengthOf(manifest), Date.now() / 1000)))}
        onGone={() => void end("another tab")}
        onWipe={() => void end("wiped here")}
        status={() => <Countdown device={life.device} />}
      />
      <Releases server={server} token={token} manifest={manifest} clickedIn={clickedIn} />
    </>
  );
}
