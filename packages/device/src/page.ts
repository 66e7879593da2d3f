/**
 * Calls `hide` whenever a page is left or becomes hidden, until the returned controller is aborted. Does nothing where
 * there is no page. A page that is left becomes hidden after that, which is no news. Firefox may close a hidden tab
 * without an event.
 */
export function onPageHidden(hide: () => void): AbortController {
  const life = new AbortController();
  let isLeft = false;
  function onPage({ type }: { readonly type: string }): void {
    if (type !== "visibilitychange") isLeft = type === "pagehide";
    else if (isLeft || document.visibilityState !== "hidden") return;
    if (type !== "pageshow") hide();
  }
  for (const type of ["pagehide", "pageshow", "visibilitychange"]) globalThis.addEventListener?.(type, onPage, life);
  return life;
}
