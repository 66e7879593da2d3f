import { expect, it } from "vitest";
import { surviveFaults } from "../test/two-server-kills.ts";

it("leader and helper, killed 6 times on a bad network, count the same reports: all that were acknowledged", async () => {
  const result = await surviveFaults(6, `faults ${Date.now()}`);
  console.log(JSON.stringify(result));
  expect(result.reports).toBeGreaterThan(6);
  expect(result.kills).toEqual({ leader: 3, helper: 3 });
});
