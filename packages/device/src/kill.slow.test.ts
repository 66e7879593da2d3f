import { expect, it } from "vitest";
import { surviveDeviceKills } from "../test/device-kills.ts";

it("killed at 300 moments, a device loses nothing that was written and never reports twice", async () => {
  const result = await surviveDeviceKills(300);
  console.log(JSON.stringify(result));
  // Else the kills would have come when nothing happens, and shown nothing.
  expect(result.sentAgain).toBeGreaterThan(0);
  expect(result.outlived).toBeGreaterThan(0);
  for (const moment of ["any", "sealing", "sending", "sent"]) expect(result.at[moment]).toBeGreaterThan(0);
});
