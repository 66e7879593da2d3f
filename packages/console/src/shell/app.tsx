/**
 * The frame around the views: navigation, theme, token, what is loading and what failed. May import `format`. Start
 * reading here; `route.ts` has the addresses, `load.ts` fetches, `view.ts` is what a view gets.
 */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useLoaded } from "./load.ts";
import { formatRoute, type Route, useRoute, VIEWS, type ViewName } from "./route.ts";
import { SERVER } from "./server.ts";
import { Await } from "./states.tsx";
import { ThemeSwitch } from "./theme.tsx";
import { useToken } from "./token.ts";
import type { View, ViewProps } from "./view.ts";

const TITLES: Readonly<Record<ViewName, string>> = {
  results: "Results",
  privacy: "Privacy",
  operations: "Operations",
  plan: "Plan",
  device: "Inside a device",
};

/** How to load each view. */
export type Views = Readonly<Record<ViewName, () => Promise<View>>>;

/** The whole page. */
export function App({ views }: { views: Views }): JSX.Element {
  const route = useRoute();
  const token = useToken();
  // A view stays where it is while its reader enters a token.
  const service = useLoaded(() => fetchInfo(token), [token], { keepsLast: true });
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    document.title = `${TITLES[route.view]} · Lethe`;
  }, [route.view]);
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <header class="top">
        <a class="brand" href={formatRoute({ view: "results" })}>
          Lethe
        </a>
        <nav aria-label="Views">
          {VIEWS.map((view) => (
            <a
              key={view}
              href={formatRoute({ view, path: sharedPath(route, view) })}
              aria-current={view === route.view ? "page" : undefined}
            >
              {TITLES[view]}
            </a>
          ))}
        </nav>
        <ThemeSwitch />
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <Await loaded={service} what="the service">
          {(about) => <ViewOf views={views} route={route} about={about} token={token} again={service.again} />}
        </Await>
      </main>
    </>
  );
}

function ViewOf({
  views,
  route,
  about,
  token,
  again,
}: {
  views: Views;
  route: Route;
  about: About;
  token: string | undefined;
  again: () => void;
}): JSX.Element {
  // In an object, because a state that is a function would be called.
  const loaded = useLoaded(async () => ({ Shown: await views[route.view]() }), [route.view]);
  return (
    <Await loaded={loaded} what={TITLES[route.view].toLowerCase()}>
      {({ Shown }) => <Shown {...about} server={SERVER} route={route} token={token} again={again} />}
    </Await>
  );
}

/** Results and privacy are about one task: the other one opens with the same. */
function sharedPath(route: Route, view: ViewName): readonly string[] {
  const aboutTasks: readonly ViewName[] = ["results", "privacy"];
  return aboutTasks.includes(view) && aboutTasks.includes(route.view) ? route.path.slice(0, 1) : [];
}

type About = Pick<ViewProps, "service" | "clockAhead">;

async function fetchInfo(token: string | undefined): Promise<About> {
  const { fetchServiceInfo } = await import("./info.ts");
  const service = await fetchServiceInfo(SERVER, { token });
  return { service, clockAhead: service.now - Date.now() / 1000 };
}
