import { expect, it } from "vitest";
import { surviveFaults } from "../test/two-server-kills.ts";

it("leader and helper, killed 300 times on a bad network, count the same reports: all that were acknowledged", async () => {
  const result = await surviveFaults(300, `faults ${Date.now()}`);
  console.log(JSON.stringify(result));
  expect(result.reports).toBeGreaterThan(300);
  expect(result.kills).toEqual({ leader: 150, helper: 150 });
  for (const fate of Object.values(result.fates)) expect(fate).toBeGreaterThan(20);
});
