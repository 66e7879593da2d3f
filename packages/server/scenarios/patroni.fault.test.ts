import { expect, it } from "vitest";
import { isPatroniInstalled } from "../test/patroni.ts";
import { describeKills, surviveNodeKills } from "../test/patroni-kills.ts";

it.skipIf(!isPatroniInstalled)(
  "a Patroni cluster whose nodes are killed, one of each kind, loses nothing acknowledged and counts nothing twice",
  async () => {
    const result = await surviveNodeKills(5, 1, `patroni ${Date.now()}`);
    console.log(`${describeKills(result)}\n${JSON.stringify(result)}`);
    expect(result.reports).toBeGreaterThan(20);
  },
);
