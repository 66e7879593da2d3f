import { it } from "vitest";
import { expectWithinTheory, releaseOfGuardedFleet } from "../test/collusion-fleet.ts";

it("a fleet of 300 real devices, of which nobody with one server's keys can read a state, and its release", async () => {
  const result = await releaseOfGuardedFleet(300);
  console.log(JSON.stringify(result.figures));
  expectWithinTheory(result, 300, 10);
});
