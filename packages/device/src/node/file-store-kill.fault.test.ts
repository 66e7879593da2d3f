import { expect, it } from "vitest";
import { surviveStoreKills } from "../../test/file-store-kills.ts";

it("killed at 20 random moments, a process that saves leaves one whole record", async () => {
  const result = await surviveStoreKills(20);
  console.log(JSON.stringify(result));
  expect(result.kills).toBe(20);
});
