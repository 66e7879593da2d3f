import type { Series } from "@lethe/analyst";
import type { Live } from "./live.ts";

/** Which figure of a window. */
type Sought = Pick<Series, "name" | "label" | "group" | "summary">;

/** What really happened in a window: the true value of a figure, or undefined if the demonstration does not know it. */
export type Truths = (window: number, figure: Sought) => number | undefined;

/** Looks figures up in a demonstration. It knows figures of all devices, not of groups, nor what follows from figures. */
export function truthsOf(live: Pick<Live, "demonstration"> | "loading"): Truths {
  const windows = live === "loading" ? [] : live.demonstration.windows;
  const known = new Map(
    windows.flatMap(({ window, truth }) =>
      truth.map(({ name, bucket, truth: value }) => [keyOf(window, name, bucket), value] as const),
    ),
  );
  return (window, { name, label, group, summary }) =>
    group === undefined && summary === undefined ? known.get(keyOf(window, name, label)) : undefined;
}

function keyOf(window: number, name: string, label: string | undefined): string {
  return JSON.stringify([window, name, label]);
}
