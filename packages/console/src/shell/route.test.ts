import { describe, expect, it } from "vitest";
import { formatRoute, parseRoute } from "./route.ts";

describe("a route", () => {
  it("is what the address says", () => {
    expect(parseRoute("#/results/editor-health?metric=export.failed&last=30")).toEqual({
      view: "results",
      path: ["editor-health"],
      query: { metric: "export.failed", last: "30" },
    });
  });

  it("survives being written and read", () => {
    const route = { view: "privacy" as const, path: ["a/b", "ü"], query: { edges: "0,1,2", note: "a&b=c" } };
    expect(parseRoute(formatRoute(route))).toEqual(route);
  });

  it.each(["", "#", "#/", "#/nothing/x", "#/%E0%A4%A"])("leads to the results if it is unknown: %j", (hash) => {
    expect(parseRoute(hash)).toEqual({ view: "results", path: [], query: {} });
  });
});
