import { expect, it } from "vitest";
import { surviveStoreKills } from "../../test/file-store-kills.ts";

it("killed at 300 random moments, a process that saves leaves one whole record", async () => {
  const result = await surviveStoreKills(300);
  console.log(JSON.stringify(result));
  // Else the kills would have come between saves, and shown nothing.
  expect(result.whileWriting).toBeGreaterThan(0);
});
