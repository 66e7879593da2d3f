import { expect, it } from "vitest";
import { surviveDeviceKills } from "../test/device-kills.ts";

it("killed at 20 moments, a device loses nothing that was written and never reports twice", async () => {
  const result = await surviveDeviceKills(20);
  console.log(JSON.stringify(result));
  expect(result.kills).toBe(20);
  expect(result.enrolments).toBeGreaterThan(3);
});
