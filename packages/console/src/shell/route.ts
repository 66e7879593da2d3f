import { useEffect, useState } from "preact/hooks";

/** The views of the console, in the order of the navigation. */
export const VIEWS = ["results", "privacy", "operations", "plan", "device"] as const;
/** One of them. */
export type ViewName = (typeof VIEWS)[number];

/**
 * What the address says behind its `#`: a view, a path below it, and settings, as in
 * `#/results/editor-health?metric=export.failed&last=30`. It has everything that a shared link must have, and never a
 * token.
 */
export interface Route {
  readonly view: ViewName;
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

/** Reads the part of an address behind `#`. Anything unknown leads to the results. */
export function parseRoute(hash: string): Route {
  const [before = "", after = ""] = hash.replace(/^#?\/?/, "").split("?", 2);
  const [name = "", ...path] = before.split("/").filter(Boolean).map(decoded);
  const view = VIEWS.find((each) => each === name) ?? "results";
  return { view, path: view === name ? path : [], query: Object.fromEntries(new URLSearchParams(after)) };
}

/** The address of a route, beginning with `#`. Empty settings are left out. */
export function formatRoute({ view, path = [], query = {} }: { view: ViewName } & Partial<Route>): string {
  const settings = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ""));
  const text = settings.toString();
  return `#/${[view, ...path].map(encodeURIComponent).join("/")}${text && `?${text}`}`;
}

/** The route of the page; follows the address. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const follow = (): void => setRoute(parseRoute(location.hash));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return route;
}

/** Changes settings of the route in place: the address can be shared, and the back button does not collect them. */
export function changeQuery(route: Route, changes: Readonly<Record<string, string>>): void {
  const next = formatRoute({ ...route, query: { ...route.query, ...changes } });
  history.replaceState(null, "", next);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
