import { expect, it } from "vitest";
import { surviveDatabaseKills } from "../test/divided-kills.ts";

it("intakes, tallies and databases that are killed 300 times lose nothing they acknowledged, and count nothing twice", async () => {
  const result = await surviveDatabaseKills(300, `databases ${Date.now()}`);
  console.log(JSON.stringify(result));
  expect(result.reports).toBeGreaterThan(300);
});
