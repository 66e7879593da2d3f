import { expect, it } from "vitest";
import { surviveClusterKills } from "../test/cluster.ts";

it("three intakes and three tallies, killed 300 times, lose nothing they acknowledged and count nothing twice", async () => {
  const result = await surviveClusterKills(300, `cluster ${Date.now()}`);
  console.log(JSON.stringify(result));
  expect(result.reports).toBeGreaterThan(300);
});
