import { describe, expect, it } from "vitest";
import { formatRoute, parseRoute } from "../shell/route.ts";
import { DEFAULTS, LONGEST_IN_ADDRESS, queryOf, settingsOf } from "./settings.ts";

const throughAddress = (settings: typeof DEFAULTS) =>
  settingsOf(parseRoute(formatRoute({ view: "plan", query: queryOf(settings) })).query);

describe("the settings of a plan", () => {
  it("survive being in an address, with every character of the file", () => {
    const settings = { text: `{\n\t"task": "ü&=#?+% %20",\r\n}`, devices: 512, metric: 3, detect: 0.25 };
    expect(throughAddress(settings)).toEqual(settings);
    expect(throughAddress(DEFAULTS)).toEqual(DEFAULTS);
    expect(formatRoute({ view: "plan", query: queryOf(DEFAULTS) })).toBe("#/plan");
  });

  it("are the defaults where an address has nonsense", () => {
    for (const nonsense of ["", "x", "-1", "0.5", "1e99", "NaN", "Infinity"]) {
      expect(settingsOf({ devices: nonsense, metric: nonsense })).toEqual(DEFAULTS);
    }
    for (const nonsense of ["", "0", "-3", "x", "Infinity"]) expect(settingsOf({ detect: nonsense })).toEqual(DEFAULTS);
  });

  it("leave out a file that no address can carry", () => {
    const text = "x".repeat(LONGEST_IN_ADDRESS + 1);
    expect(throughAddress({ ...DEFAULTS, text, devices: 7 })).toEqual({ ...DEFAULTS, devices: 7 });
  });
});
