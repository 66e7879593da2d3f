import { describe, expect, it } from "vitest";
import { closestStop, DEVICES, EPSILONS, MINIMUM_DEVICES, SHARES, SIGMAS, TICKS } from "./stops.ts";

const ALL = { DEVICES, MINIMUM_DEVICES, EPSILONS, SIGMAS, SHARES, TICKS };

describe.each(Object.entries(ALL))("the stops of %s", (_, stops) => {
  it("increase, and each is the closest to itself", () => {
    stops.forEach((stop, i) => {
      if (i > 0) expect(stop).toBeGreaterThan(stops[i - 1] as number);
      expect(closestStop(stops, stop)).toBe(i);
    });
  });

  it("are written with few digits, because the file shows them", () => {
    for (const stop of stops) expect(String(Number(stop.toPrecision(5)))).toBe(String(stop));
  });

  it("have one for any number", () => {
    expect(closestStop(stops, -5)).toBe(0);
    expect(closestStop(stops, 0)).toBe(0);
    expect(closestStop(stops, 1e12)).toBe(stops.length - 1);
  });
});

it("what is between two stops is at the closer one", () => {
  expect(DEVICES[closestStop(DEVICES, 21_000)]).toBe(20_000);
  expect(TICKS[closestStop(TICKS, 300)]).toBe(288);
  expect(SHARES.at(-1)).toBe(0.9);
});
