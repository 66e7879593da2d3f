import type { Demonstration } from "@lethe/analyst";
import { expect, it } from "vitest";
import { truthsOf } from "./truth.ts";

const demonstration: Demonstration = {
  ...{ task: "t", devices: 3, ticks: 6 },
  windows: [
    {
      window: 7,
      truth: [
        { name: "failed", truth: 2 },
        { name: "clicks", bucket: "0", truth: 1 },
        { name: "clicks", bucket: "1+", truth: 0 },
      ],
    },
    { window: 8, truth: [{ name: "failed", truth: 3 }] },
  ],
};
const ofAll = { group: undefined, label: undefined };

it("what really happened is known by window, metric and category", () => {
  const truths = truthsOf({ demonstration });
  expect(truths(7, { ...ofAll, name: "failed" })).toBe(2);
  expect(truths(8, { ...ofAll, name: "failed" })).toBe(3);
  expect(truths(7, { ...ofAll, name: "clicks", label: "1+" })).toBe(0);
});

it("nothing is invented about other windows, metrics, groups, or what follows from categories", () => {
  const truths = truthsOf({ demonstration });
  expect(truths(9, { ...ofAll, name: "failed" })).toBeUndefined();
  expect(truths(7, { ...ofAll, name: "clicks" })).toBeUndefined();
  expect(truths(7, { ...ofAll, name: "failed", group: "beta" })).toBeUndefined();
  expect(truths(7, { ...ofAll, name: "clicks", label: "0", summary: "reached" })).toBeUndefined();
  expect(truthsOf("loading")(7, { ...ofAll, name: "failed" })).toBeUndefined();
});
