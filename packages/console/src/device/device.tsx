/**
 * The view `device`: a real SDK device in this page with its real store, beside an ordinary counter, and a game. Without
 * a task in the address, the device of `local-device.ts`, whose ticks the page makes; with one, a device of that task of
 * the service (`joined-device.ts`). `device-panel.tsx` shows either, `use-looks.ts` looks at its store, and
 * `picture.ts` draws bytes. `game.tsx` is the game, `opponents.ts` its devices; the rules and the distinguishers are the
 * lab's. The SDK and the lab's code load when a device is opened. Start reading here.
 */
import type { ServiceInfo } from "@lethe/core/message";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { useLoaded } from "../shell/load.ts";
import { formatRoute } from "../shell/route.ts";
import { Await, Empty } from "../shell/states.tsx";
import type { ViewProps } from "../shell/view.ts";
import { JoinedSection } from "./joined-section.tsx";
import { LocalSection } from "./local-section.tsx";
import "./device.css";

/** The view `device`. */
export function Device(props: ViewProps): JSX.Element {
  const [task] = props.route.path;
  useEffect(() => {
    if (task !== undefined) document.title = `Inside a device of ${task} · Lethe`;
  }, [task]);
  return (
    <>
      <h1>Inside a device</h1>
      <p class="lead">
        Press a button and compare. An ordinary counter writes down what you did, and when. A Lethe device rewrites its
        store at every tick, whether you pressed or not, and its bytes look like noise either way: it counts, and cannot
        remember.
      </p>
      {isSecureContext ? <Devices {...props} task={task} /> : <Insecure />}
    </>
  );
}

function Devices({
  service,
  clockAhead,
  server,
  route,
  token,
  task,
}: ViewProps & { task: string | undefined }): JSX.Element {
  return (
    <>
      {task === undefined ? (
        <LocalSection />
      ) : (
        <JoinedSection key={task} {...{ task, service, clockAhead, server, route, token }} />
      )}
      <LazyGame />
      <Tasks service={service} current={task} />
    </>
  );
}

/** Browsers give pages of other addresses no WebCrypto, without which the SDK does not run. */
function Insecure(): JSX.Element {
  return (
    <Empty title="Devices need a secure address">
      <p>Open the console over https, or on the machine of the service at http://localhost.</p>
    </Empty>
  );
}

function LazyGame(): JSX.Element {
  const loaded = useLoaded(() => import("./game.tsx"), []);
  return (
    <Await loaded={loaded} what="the game">
      {({ Game }) => <Game />}
    </Await>
  );
}

/** The roles of processes that issue keys to devices. */
const ISSUING: readonly ServiceInfo["role"][] = ["all", "intake", "leader"];

/** The way to a real task, and back. */
function Tasks({ service, current }: { service: ServiceInfo; current: string | undefined }): JSX.Element | null {
  const tasks = service.operatorKey !== undefined && ISSUING.includes(service.role) ? (service.tasks ?? []) : [];
  const others = tasks.filter((task) => task !== current);
  if (others.length === 0 && current === undefined) return null;
  return (
    <section aria-label="Other devices">
      <h2>Other devices</h2>
      <ul>
        {current !== undefined && (
          <li>
            <a href={formatRoute({ view: "device" })}>A device with a tick every second</a>
          </li>
        )}
        {others.map((task) => (
          <li key={task}>
            <a href={formatRoute({ view: "device", path: [task] })}>A device of the task {task} of this service</a>
          </li>
        ))}
      </ul>
    </section>
  );
}
