import { expect, it } from "vitest";
import { surviveKills } from "../test/kills.ts";

it("killed at 300 random moments, the service loses nothing it acknowledged and counts nothing twice", async () => {
  const result = await surviveKills(300, `kills ${Date.now()}`);
  console.log(JSON.stringify(result));
  expect(result.reports).toBeGreaterThan(300);
});
