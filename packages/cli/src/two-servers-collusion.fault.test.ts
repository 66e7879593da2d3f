import { expect, it } from "vitest";
import { expectWithinTheory, releaseOfGuardedFleet } from "../test/collusion-fleet.ts";

it("a fleet of 40 real devices, of which nobody with one server's keys can read a state, and its release", async () => {
  const result = await releaseOfGuardedFleet(40);
  expectWithinTheory(result, 40, 12);
  expect(new Set(result.figures.map(({ name }) => name))).toEqual(new Set(["opened", "clicks", "format", "checkout"]));
});
