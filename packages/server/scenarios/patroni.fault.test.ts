import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { isPatroniInstalled, scriptOf } from "../test/patroni.ts";
import { describeKills, surviveNodeKills } from "../test/patroni-kills.ts";

it.skipIf(!isPatroniInstalled)(
  "a Patroni cluster whose nodes are killed, one of each kind, loses nothing acknowledged and counts nothing twice",
  async () => {
    const result = await surviveNodeKills(5, 1, `patroni ${Date.now()}`);
    console.log(`${describeKills(result)}\n${JSON.stringify(result)}`);
    expect(result.reports).toBeGreaterThan(20);
  },
);

it("the example says in one line which programs are missing, and how to install them", () => {
  const env = { PATH: "/nowhere" };
  const { status, stderr } = spawnSync(process.execPath, [scriptOf("start")], { env, encoding: "utf8" });
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: expect.stringMatching(/^missing: etcd, patroni, setpriv.*; .*apt-get install postgresql-15 .*\n$/),
  });
});
