import type { FinishedWindow } from "@lethe/analyst";
import type { JSX } from "preact";
import { percent, whole } from "../format/number.ts";
import { dateAndTime } from "../format/time.ts";

/** Which window is selected, who reported, and why it has no figures if it has none. */
export function WindowSummary({ window }: { window: FinishedWindow }): JSX.Element {
  const { from, to, status } = window;
  return (
    <section class={status === "released" ? "summary" : "summary withheld"} aria-live="polite">
      <h2>
        {dateAndTime(from, to - from)} to {dateAndTime(to, to - from)}
      </h2>
      <p>{describeWindow(window)}</p>
    </section>
  );
}

/** What became of a window, in one or two sentences. */
function describeWindow(window: FinishedWindow): string {
  if (window.status === "not-released") {
    return `Window ${window.window} was not released: the service did not run, or is not done with it. There are no figures.`;
  }
  const { enrolled, received } = window;
  const share = enrolled > 0 ? ` (${percent(received / enrolled, 0)})` : "";
  const reports = `${whole(received)} of ${whole(enrolled)} enrolled devices reported${share}`;
  if (window.status === "lost") return `${reports}. The window is lost: its secret is gone, and nothing can open it.`;
  if (window.status === "not-enough") {
    const where = window.groups ? " in a group" : "";
    return `${reports}. That is too few, ${whole(window.missing)} more were needed${where}: nothing is released, and the reports are erased.`;
  }
  const few = (window.groups ?? []).filter((group) => group.status === "not-enough");
  const withheld = few.map(({ group, missing }) => `${group} (${whole(missing)} more needed)`).join(", ");
  return withheld === "" ? `${reports}.` : `${reports}. Too few to release, and in no figure: ${withheld}.`;
}
