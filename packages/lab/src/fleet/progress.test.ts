import { expect, it } from "vitest";
import { countProgress, type FleetProgress } from "./progress.ts";

it("adds up what devices do side by side, and counts a tick when the average device has lived through it", () => {
  const seen: FleetProgress[] = [];
  const progress = countProgress({ window: 7, devices: 2, first: 3 }, ["a", "b"], (news) => seen.push(news));
  expect(seen).toEqual([{ window: 7, tick: 3, received: 0, events: { a: 0, b: 0 } }]);
  progress.happened("a");
  progress.ticked();
  progress.happened("a");
  progress.happened("b");
  progress.ticked();
  progress.reported();
  expect(seen.slice(1)).toEqual([
    { window: 7, tick: 3, received: 0, events: { a: 1, b: 0 } },
    { window: 7, tick: 4, received: 0, events: { a: 2, b: 1 } },
    { window: 7, tick: 4, received: 1, events: { a: 2, b: 1 } },
  ]);
});
