import { expect, it } from "vitest";
import { isPatroniInstalled } from "../test/patroni.ts";
import { describeKills, nodesKilled, surviveNodeKills } from "../test/patroni-kills.ts";

it.skipIf(!isPatroniInstalled)(
  "a Patroni cluster under load whose nodes are killed 50 times loses nothing acknowledged and counts nothing twice",
  async () => {
    const result = await surviveNodeKills(50, 5, `patroni ${Date.now()}`);
    console.log(`${describeKills(result)}\n${JSON.stringify(result)}`);
    expect(nodesKilled(result.kills)).toBeGreaterThanOrEqual(50);
    expect(result.reports).toBeGreaterThan(1000);
  },
);
