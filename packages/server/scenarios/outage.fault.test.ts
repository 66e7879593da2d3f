import { it } from "vitest";
import { requireFlat, surviveOutage } from "../test/outage.ts";

it("an intake survives 25 s without its database under a flood, with flat memory, and no device loses its report", async () => {
  requireFlat(await surviveOutage(25));
});
