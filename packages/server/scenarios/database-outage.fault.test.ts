import { it } from "vitest";
import { surviveDatabaseOutage } from "../test/divided-outage.ts";

it("while one of two databases hangs, devices of the other are served; the release waits for it, and has everything", async () => {
  console.log(JSON.stringify(await surviveDatabaseOutage("hangs", 1)));
});
