import { useEffect, useRef, useState } from "preact/hooks";
import { changeQuery, type Route } from "../shell/route.ts";
import { DEFAULTS, queryOf, type Settings, settingsOf } from "./settings.ts";

/** The plan of this tab, which is there again after another view. */
let kept: Settings = DEFAULTS;

/** Browsers refuse to change the address at every step of a slider. */
const PAUSE_MS = 300;

/**
 * The settings, and how to change some. The address follows them after a moment; they follow the address if somebody
 * opens another one. An address without any is that of the plan that this tab has.
 */
export function useSettings(route: Route): readonly [Settings, (changes: Partial<Settings>) => void] {
  const { query } = route;
  const address = JSON.stringify(query);
  const written = useRef(address);
  const [settings, setSettings] = useState(() => (address === "{}" ? kept : settingsOf(query)));
  kept = settings;
  // While another view is being loaded, this one still sees its address.
  const isOwn = route.view === "plan";
  useEffect(() => {
    if (!isOwn) return;
    if (address !== written.current && address !== "{}") setSettings(settingsOf(query));
    written.current = address;
  }, [address, isOwn]);
  useEffect(() => {
    const wanted = filled(queryOf(settings));
    if (!isOwn || JSON.stringify(wanted) === address) return undefined;
    const timer = setTimeout(() => {
      written.current = JSON.stringify(wanted);
      changeQuery({ ...route, query: {} }, wanted);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [settings, address, isOwn]);
  return [settings, (changes) => setSettings((last) => ({ ...last, ...changes }))];
}

function filled(query: Route["query"]): Route["query"] {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ""));
}
