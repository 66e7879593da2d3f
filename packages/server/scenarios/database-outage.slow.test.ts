import { it } from "vitest";
import { surviveDatabaseOutage } from "../test/divided-outage.ts";

it.each(["hangs", "is killed"] as const)(
  "one of two databases %s for a minute during a release, which is delayed, and has everything",
  async (how) => {
    console.log(how, JSON.stringify(await surviveDatabaseOutage(how, 60)));
  },
);
