import type { Demonstration } from "@lethe/analyst";
import { expect, it } from "vitest";
import { createRecord } from "./record.ts";

const ABOUT = { task: "t", devices: 3, ticks: 6 };

it("a record has the running window, and the truth of the last 90 windows, oldest first", () => {
  const seen: Demonstration[] = [];
  const record = createRecord(ABOUT, (current) => seen.push(current));
  expect(seen).toEqual([{ ...ABOUT, windows: [] }]);
  for (let window = 1; window <= 95; window++) record.addTruth(window, [{ name: "failed", truth: window }]);
  const running = { window: 96, tick: 2, events: { failed: 4 } };
  record.watch(running);
  expect(record.current()).toMatchObject({ ...ABOUT, running });
  expect(record.current().windows.map(({ window }) => window)).toEqual(Array.from({ length: 90 }, (_, i) => i + 6));
  expect(record.current().windows.at(-1)).toEqual({ window: 95, truth: [{ name: "failed", truth: 95 }] });
  expect(seen.length).toBe(97);
  expect(seen.at(-1)).toEqual(record.current());
});
