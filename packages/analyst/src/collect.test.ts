import { encodeManifest, encodeOperatorKey, encodeSignedManifest, manifestHash, parseTask } from "@lethe/core/message";
import { createAggregateShare, encodeSignedShare, encodeWindowShare, type WindowShare } from "@lethe/core/two-server";
import { beforeAll, describe, expect, it } from "vitest";
import { answering, fakeService } from "../test/fake-service.ts";
import { collectLastWindows, collectRelease, helperHindrance } from "./collect.ts";

type Role = "leader" | "helper";
interface Operator {
  readonly key: string;
  sign(text: string): Promise<Uint8Array>;
}

const WINDOW = 8;
const SUM = 60;
const TASK = parseTask(
  JSON.stringify({
    version: 3,
    task: "kiosks",
    tickSeconds: 60,
    ticks: 10,
    graceSeconds: 0,
    mode: "two-server",
    scheme: "elgamal",
    minimumDevices: 10,
    metrics: [{ name: "counted", statistic: "occurrence", noise: "servers", sigma: 2 }],
  }),
);

async function createOperator(): Promise<Operator> {
  const { subtle } = globalThis.crypto;
  const { publicKey, privateKey } = (await subtle.generateKey("Ed25519", true, ["sign", "verify"])) as CryptoKeyPair;
  return {
    key: encodeOperatorKey(new Uint8Array(await subtle.exportKey("raw", publicKey))),
    sign: async (text) => new Uint8Array(await subtle.sign("Ed25519", privateKey, new TextEncoder().encode(text))),
  };
}

const operators = {} as Record<Role | "stranger", Operator>;
let manifest: string;
beforeAll(async () => {
  for (const role of ["leader", "helper", "stranger"] as const) operators[role] = await createOperator();
  const servers = (["leader", "helper"] as const).map((role) => ({
    role,
    url: `https://${role}.example`,
    key: operators[role].key,
  }));
  manifest = encodeManifest({ ...TASK, fromWindow: 7, servers });
});

function shareOf(role: Role): WindowShare {
  const share = createAggregateShare(1);
  share.addConstant([role === "leader" ? SUM - 1000 : 1000]);
  return {
    role,
    task: "kiosks",
    version: 3,
    window: WINDOW,
    from: 4800,
    to: 5400,
    at: 5400,
    manifestHash: manifestHash(manifest),
    ...(role === "leader" && { enrolled: 120, invalid: 2 }),
    received: 100,
    reports: new Uint8Array(32).fill(5),
    share: share.encode(),
  };
}

/** A server of the pair, whose share may be changed before or after it is signed, or be signed by somebody else. */
async function startServer(
  role: Role,
  {
    changes = {},
    tamper = (document) => document,
    signer = role,
    token,
  }: {
    changes?: Partial<WindowShare>;
    tamper?: (document: string) => string;
    signer?: Role | "stranger";
    token?: string;
  } = {},
): Promise<string> {
  const document = encodeWindowShare({ ...shareOf(role), ...changes });
  const signature = await operators[signer].sign(document);
  const release = encodeSignedShare({ status: "shared", document: tamper(document), signature });
  const signed = encodeSignedManifest({ manifest, signature: await operators.leader.sign(manifest) });
  const paths = {
    "/v1/tasks/kiosks": signed,
    [`/v1/tasks/kiosks?window=${WINDOW}`]: signed,
    [`/v1/tasks/kiosks/releases/${WINDOW}`]: release,
    "/v1/tasks/kiosks/releases?limit=1": `{"releases":[${release}]}`,
    [`/v1/tasks/kiosks/windows/${WINDOW}`]: JSON.stringify({ refused: { "rate-limited": 2 } }),
  };
  return (await fakeService(paths, token)).url;
}

async function collectFrom(
  leader: string,
  helper: string,
  keys: Partial<Record<"leaderKey" | "helperKey", string>> = {},
) {
  const servers = { leader, helper, leaderKey: operators.leader.key, helperKey: operators.helper.key, ...keys };
  return collectRelease(servers, "kiosks", { window: WINDOW });
}

describe("collecting from two servers", () => {
  it("adds both shares to a release, which has the leader's refusals", async () => {
    const release = await collectFrom(await startServer("leader"), await startServer("helper"));
    expect(release).toMatchObject({
      status: "released",
      window: WINDOW,
      enrolled: 120,
      received: 100,
      refused: { "rate-limited": 2 },
      metrics: [{ name: "counted", estimate: SUM }],
    });
  });

  it("without a window, takes the newest that both share", async () => {
    const servers = { leader: await startServer("leader"), helper: await startServer("helper") };
    const unpinned: string[] = [];
    const onUnpinnedKey = (role: Role, key: string): void => void unpinned.push(`${role} ${key}`);
    expect(await collectRelease(servers, "kiosks", { onUnpinnedKey })).toMatchObject({ window: WINDOW });
    expect(unpinned).toEqual([`leader ${operators.leader.key}`, `helper ${operators.helper.key}`]);
  });

  it("the last windows of servers that keep their results private need the token of each, which the other never gets", async () => {
    const [leaderToken, helperToken] = ["token-of-the-leader", "token-of-the-helper"];
    const leader = await startServer("leader", { token: leaderToken });
    const helper = await startServer("helper", { token: helperToken });
    const found = await collectLastWindows({ leader, helper, leaderToken, helperToken }, "kiosks", 1);
    expect(found).toMatchObject([{ window: WINDOW, metrics: [{ name: "counted", estimate: SUM }] }]);
    for (const tokens of [{}, { leaderToken }, { helperToken }, { leaderToken: helperToken, helperToken }]) {
      await expect(collectLastWindows({ leader, helper, ...tokens }, "kiosks", 1)).rejects.toMatchObject({
        code: "unauthorized",
      });
    }
  });

  it("refuses operator keys that are not those of the manifest", async () => {
    const [leader, helper] = [await startServer("leader"), await startServer("helper")];
    for (const keys of [{ leaderKey: operators.stranger.key }, { helperKey: operators.stranger.key }]) {
      await expect(collectFrom(leader, helper, keys)).rejects.toMatchObject({ code: "bad-signature" });
    }
  });

  it("refuses a share that somebody else signed, or that was changed after it was signed", async () => {
    const leader = await startServer("leader");
    for (const options of [
      { signer: "stranger" },
      { signer: "leader" },
      { tamper: (document: string) => document.replace('"received":100', '"received":101') },
    ] as const) {
      await expect(collectFrom(leader, await startServer("helper", options))).rejects.toMatchObject({
        code: "bad-signature",
        message: expect.stringContaining("the share is not signed by the helper"),
      });
    }
  });

  it.each<[string, Partial<WindowShare>]>([
    ["number of reports", { received: 101 }],
    ["set of reports", { reports: new Uint8Array(32).fill(6) }],
    ["window", { window: WINDOW - 1 }],
    ["version", { version: 4 }],
    ["manifest", { manifestHash: new Uint8Array(32) }],
    ["role", { role: "leader" }],
    ["length", { share: new Uint8Array(16) }],
  ])("refuses signed shares that differ in their %s", async (_what, changes) => {
    const leader = await startServer("leader");
    await expect(collectFrom(leader, await startServer("helper", { changes }))).rejects.toMatchObject({
      code: "bad-share",
    });
  });

  it("refuses servers that were swapped", async () => {
    const [leader, helper] = [await startServer("leader"), await startServer("helper")];
    await expect(collectFrom(helper, leader)).rejects.toMatchObject({ code: "bad-signature" });
  });

  it("reports a helper that does not answer; a refusal is an answer", async () => {
    const pair = { leader: "http://127.0.0.1:9", helper: "http://127.0.0.1:9" };
    expect(await helperHindrance(pair, "kiosks")).toBe("the helper at http://127.0.0.1:9 does not answer");
    const { url } = await fakeService({});
    expect(await helperHindrance({ ...pair, helper: url }, "kiosks")).toBeUndefined();
    const wrongPath = await answering(404, "application/problem+json", JSON.stringify({ detail: "nothing is here" }));
    expect(await helperHindrance({ ...pair, helper: wrongPath }, "kiosks")).toBe(
      `the helper at ${wrongPath} does not answer`,
    );
  });
});
