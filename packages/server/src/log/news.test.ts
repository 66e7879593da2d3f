import { expect, it } from "vitest";
import { createNews } from "./news.ts";

it("what lasts is said once, and again when it was over in between, or after ten minutes", () => {
  let now = 0;
  const { isNews, over } = createNews(() => now);
  const say = (...troubles: readonly string[]): boolean[] => troubles.map(isNews);
  expect(say("unreachable", "unreachable", "unauthorized", "unreachable")).toEqual([true, false, true, false]);
  expect(say("61 seconds apart", "62 seconds apart")).toEqual([true, false]);
  expect([over("un"), over("un")]).toEqual([true, false]);
  expect(say("unreachable", "unauthorized", "63 seconds apart")).toEqual([true, true, false]);
  over();
  expect(say("64 seconds apart")).toEqual([true]);
  now += 599_999;
  expect(say("64 seconds apart")).toEqual([false]);
  now += 1;
  expect(say("64 seconds apart", "64 seconds apart")).toEqual([true, false]);
});
