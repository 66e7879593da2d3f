import { expect, it } from "vitest";
import { surviveFaults } from "../test/two-server-kills.ts";

it("leader and helper, killed 20 times on a bad network, count the same reports: all that were acknowledged", async () => {
  const result = await surviveFaults(20, `faults ${Date.now()}`);
  console.log(JSON.stringify(result));
  expect(result.reports).toBeGreaterThan(20);
  expect(result.kills).toEqual({ leader: 10, helper: 10 });
  for (const fate of Object.values(result.fates)) expect(fate).toBeGreaterThan(0);
});
