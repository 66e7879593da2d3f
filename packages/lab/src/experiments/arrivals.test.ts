import { expect, it } from "vitest";
import { simulateArrivals } from "../arrivals/arrivals.ts";
import { describeArrivals, runArrivals } from "./arrivals.ts";

const DEVICES = 20_000;
const drawnOnce = (spread: number) => ({ isDrawnAtStart: false, spread });

it("devices that are always on arrive evenly over the delay: the peak is a day divided by it", () => {
  for (const spread of [6, 12, 14.4, 24]) {
    const { rates, peak, inTime } = simulateArrivals({ habit: "always", zone: 0, way: drawnOnce(spread) }, DEVICES);
    expect(peak / (24 / spread)).toBeCloseTo(1, 1);
    expect(inTime).toBe(1);
    // Nobody comes after the delay, and the mean is 1.
    expect(rates.slice(Math.ceil((144 * spread) / 24)).every((rate) => rate === 0)).toBe(true);
    expect(rates.reduce((sum, rate) => sum + rate, 0) / rates.length).toBeCloseTo(1, 3);
  }
});

it("devices that are off at midnight arrive when they wake up, between 6:00 and 9:00", () => {
  const way = drawnOnce(1);
  const { rates, inTime } = simulateArrivals({ habit: "by day", zone: 0, way }, DEVICES);
  const hour = (from: number, to: number): number =>
    rates.slice(6 * from, 6 * to).reduce((sum, rate) => sum + rate, 0) / rates.length;
  // Those who woke up after 8:00 are on until after midnight, and some of them are when their moment comes.
  expect(hour(0, 1)).toBeGreaterThan(0);
  expect(hour(0, 1)).toBeLessThan(1 / 3);
  expect(hour(6, 9)).toBeGreaterThan(2 / 3);
  expect(hour(1, 6) + hour(9, 24)).toBe(0);
  expect(inTime).toBe(1);
  // Eight hours ahead everybody is on at midnight UTC: a wake-up between 22:00 and 1:00 UTC.
  const ahead = simulateArrivals({ habit: "by day", zone: -8, way }, DEVICES);
  expect(ahead.peak).toBeCloseTo(24, 0);
});

it("a delay that is drawn at every start outlasts most short visits, one that is drawn once does not", () => {
  const scenario = { habit: "3 visits of 5 minutes", zone: undefined } as const;
  const before = simulateArrivals({ ...scenario, way: { isDrawnAtStart: true, spread: 1 } }, DEVICES);
  // Three visits, each of which is long enough with probability 1/12: 1 − (11/12)³ = 0.23, and some have a fourth.
  expect(before.inTime).toBeGreaterThan(0.2);
  expect(before.inTime).toBeLessThan(0.3);
  expect(simulateArrivals({ ...scenario, way: drawnOnce(1) }, DEVICES).inTime).toBeGreaterThan(0.98);
});

it("the delay of the SDK keeps the peak below twice the mean in all time zones, and an hour does not", () => {
  const shares: number[] = [];
  const size = { devices: 5000, zonesApart: 8 };
  const points = runArrivals(size, { progress: (share) => shares.push(share) });
  expect(shares.at(-1)).toBe(1);
  for (const { way, world, worst } of points) {
    if (!way.isDrawnAtStart && way.spread === 14.4) expect(world.peak).toBeLessThan(2);
    expect(worst.peak).toBeGreaterThan(0.9 * world.peak);
  }
  expect(points.some(({ way, world }) => way.spread === 1 && world.peak > 20)).toBe(true);
  const { reading, tables } = describeArrivals({ points });
  expect(reading).not.toContain("NO delay");
  expect(tables[0]?.rows).toHaveLength(points.length);
  // Were no delay enough, the reading would say so.
  const tooHigh = points.map((point) => ({ ...point, world: { ...point.world, peak: 3 } }));
  expect(describeArrivals({ points: tooHigh }).reading).toContain("NO delay");
});
