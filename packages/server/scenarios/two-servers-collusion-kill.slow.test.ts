import { expect, it } from "vitest";
import { surviveFaults } from "../test/two-server-kills.ts";

it("with slots shared in the exponent, leader and helper killed 300 times on a bad network count the very same", async () => {
  const result = await surviveFaults(300, `faults ${Date.now()}`, "one-server");
  console.log(JSON.stringify(result));
  expect(result.reports).toBeGreaterThan(300);
  expect(result.kills).toEqual({ leader: 150, helper: 150 });
  for (const fate of Object.values(result.fates)) expect(fate).toBeGreaterThan(20);
});
