import { describe, expect, it } from "vitest";
import {
  bitsApart,
  createForger,
  deviceNumber,
  issueKeys,
  modulo,
  openBits,
  ROLES,
  random,
  randomBytes,
  readElement,
  shareOf,
  startServers,
  VERIFY_KEY,
  WINDOW,
  wrap,
} from "../../test/two-server.ts";
import { split } from "../bytes.ts";
import { createKeccak } from "../sharing/keccak.ts";
import { type OpenedShare, type ServerRole, sharingContext } from "../sharing/shared-bit.ts";
import { beginStream } from "../sharing/xof.ts";
import { createTwoServerStatistic } from "../statistic/create-two-server.ts";
import { addAggregateShares } from "./aggregate-share.ts";
import { prepareHalf } from "./verification.ts";

const CTX = sharingContext(WINDOW);
const occurrence = createTwoServerStatistic({ statistic: "occurrence", noise: "servers", ticks: 1, sigmas: [0.05] });
const A = deviceNumber(1);
const forger = createForger(A);
const one = forger.honest(1);

/** The only refusals that are expected here. */
const refused = (code: "report-differs" | "window-closed" | "unknown-device") =>
  expect.objectContaining({ name: "LetheError", code });

describe("two queries of one sharing", () => {
  /** The point at which the servers, who know the verify key, evaluate the first bit of a report. */
  function queryPoint(report: Uint8Array): bigint {
    const keccak = createKeccak();
    beginStream(keccak, Uint8Array.of(18, 0, 0, 0, 0, 1, 0, 5), CTX, VERIFY_KEY, Uint8Array.of(1, ...report));
    return readElement(keccak.bytes);
  }

  function inverse(value: bigint): bigint {
    let [power, result] = [modulo(value), 1n];
    for (let exponent = modulo(-2n); exponent > 0n; exponent >>= 1n) {
      if (exponent & 1n) result = modulo(result * power);
      power = modulo(power * power);
    }
    return result;
  }

  /** The wire at the point of this report, from what the servers tell each other. */
  function wireAt(report: Uint8Array, opened: Readonly<Record<ServerRole, readonly OpenedShare[]>>): bigint {
    const [leader, helper] = ROLES.map((role) => {
      const { verifier } = prepareHalf([occurrence], { role, verifyKey: VERIFY_KEY, ctx: CTX }, report, opened[role]);
      return readElement(verifier, 8);
    }) as [bigint, bigint];
    return modulo(leader + helper);
  }

  /** The line through two of its points, where X is −1. */
  function wireAtMinusOne([r1, y1]: [bigint, bigint], [r2, y2]: [bigint, bigint]): bigint {
    const slope = modulo((y2 - y1) * inverse(r2 - r1));
    return modulo(y1 - slope * (r1 + 1n));
  }

  it("would tell the bit to both servers, were the sharing not looked into once only: 50 of 50", () => {
    let recovered = 0;
    for (let trial = 0; trial < 50; trial++) {
      const bit = (randomBytes(1)[0] as number) & 1;
      const share = shareOf(bit);
      const opened = { leader: [share.leader], helper: [share.helper] };
      const points = [randomBytes(16), randomBytes(16)].map((report): [bigint, bigint] => [
        queryPoint(report),
        wireAt(report, opened),
      ]) as [[bigint, bigint], [bigint, bigint]];
      if (wireAtMinusOne(...points) === BigInt(bit)) recovered++;
    }
    expect(recovered).toBe(50);
  });

  it("through ElGamal and a rerandomization between, too: it is the same sharing", () => {
    const points = [randomBytes(16), randomBytes(16)].map((report): [bigint, bigint] => [
      queryPoint(report),
      wireAt(report, openBits(A, one)),
    ]) as [[bigint, bigint], [bigint, bigint]];
    expect(wireAtMinusOne(...points)).toBe(1n);
  });

  it("while points of two sharings of the same bit give anything", () => {
    const points = [randomBytes(16), randomBytes(16)].map((report): [bigint, bigint] => {
      const share = shareOf(1);
      return [queryPoint(report), wireAt(report, { leader: [share.leader], helper: [share.helper] })];
    }) as [[bigint, bigint], [bigint, bigint]];
    expect(wireAtMinusOne(...points)).toBeGreaterThan(1n);
  });
});

describe.each(ROLES)("the %s", (role) => {
  it("queries all bits of a report at one point: what was copied over another bit gives nothing that is not there already", () => {
    const { [role]: share } = shareOf(1);
    const [report, layout] = [randomBytes(16), bitsApart(300)];
    const prepare = (id: Uint8Array): Uint8Array =>
      prepareHalf([layout], { role, verifyKey: VERIFY_KEY, ctx: CTX }, id, new Array<OpenedShare>(300).fill(share))
        .verifier;
    const verifiers = split(prepare(report).subarray(0, -1), 300).map((verifier) => verifier.join());
    expect(new Set(verifiers).size).toBe(1);
    expect(prepare(report)).toEqual(prepare(report.slice()));
    expect(prepare(randomBytes(16))).not.toEqual(prepare(report));
  });

  it("answers alike for both, if an intruder copies a device's bit over another in its stored state", async () => {
    const two = createTwoServerStatistic({ statistic: "occurrence", noise: "servers", ticks: 1, sigmas: [1, 1] });
    const recorder = two.device(CTX).start(issueKeys(A), random);
    recorder.record(0);
    const stored = recorder.write() as Uint8Array;
    const bit = two.bytes.report / 2;
    const first = stored.length - two.bytes.report;
    stored.copyWithin(first + bit, first, first + bit);
    const sent = await wrap(A, recorder.seal(stored));
    const { [role]: server } = await startServers([two]);
    const [one, copy] = split((await server.prepare(A, sent.report, sent[role])).subarray(0, -1), 2);
    expect(copy).toEqual(one);
  });

  it("notes nothing of a report or a device whose id has the wrong length", async () => {
    const { [role]: server } = await startServers([occurrence]);
    const sent = await wrap(A, one);
    const bad = expect.objectContaining({ code: "bad-encoding" });
    await expect(server.prepare(A, sent.report.subarray(1), sent[role])).rejects.toEqual(bad);
    await expect(server.prepare(A.subarray(1), sent.report, sent[role])).rejects.toEqual(bad);
    await expect(server.prepare(A, sent.report, sent[role])).resolves.toBeInstanceOf(Uint8Array);
  });

  it("keeps what it was given, whatever becomes of the caller's bytes", async () => {
    const { [role]: server } = await startServers([occurrence]);
    const sent = await wrap(A, one);
    const [device, report, wrapped] = [A.slice(), sent.report.slice(), sent[role].slice()];
    const preparing = server.prepare(device, report, wrapped);
    for (const bytes of [device, report, wrapped]) bytes.fill(0);
    const verifier = await preparing;
    expect(await server.prepare(A, sent.report, sent[role])).toEqual(verifier);
    expect(verifier.at(-1)).toBe(1);
    const share = server.close();
    share.fill(7);
    expect(server.close()).not.toEqual(share);
  });

  it("refuses a second report of a device, and gives the first the same answer as often as it comes", async () => {
    const { [role]: server } = await startServers([occurrence]);
    const first = await wrap(A, one);
    const verifier = await server.prepare(A, first.report, first[role]);
    const [anotherId, otherBytes] = [await wrap(A, one), await wrap(A, forger.honest(1), { report: first.report })];
    const tries = [
      () => server.prepare(A, anotherId.report, anotherId[role]),
      () => server.prepare(A, first.report, otherBytes[role]),
      () => server.prepare(A, randomBytes(16), first[role]),
      () => server.prepare(A, first.report, new Uint8Array()),
      () => server.prepare(A, first.report, first[role].subarray(1)),
      () => server.prepare(A, first.report.subarray(1), first[role]),
    ];
    for (const again of tries) {
      await expect(again()).rejects.toEqual(refused("report-differs"));
      expect(await server.prepare(A, first.report, first[role])).toEqual(verifier);
    }
    // The same bytes in another array are the same.
    expect(await server.prepare(A.slice(), first.report.slice(), first[role].slice())).toEqual(verifier);
  });

  it("refuses the second of two that come at once, before the first is opened", async () => {
    const { [role]: server } = await startServers([occurrence]);
    const [first, second] = [await wrap(A, one), await wrap(A, one)];
    const [kept, lost, again] = await Promise.allSettled([
      server.prepare(A, first.report, first[role]),
      server.prepare(A, second.report, second[role]),
      server.prepare(A, first.report, first[role]),
    ]);
    expect(lost).toEqual({ status: "rejected", reason: refused("report-differs") });
    expect(kept.status).toBe("fulfilled");
    expect(again).toEqual(kept);
  });

  it("remembers a half that cannot be opened, too: a better one comes too late", async () => {
    const { [role]: server } = await startServers([occurrence]);
    const good = await wrap(A, one);
    const verifier = await server.prepare(A, good.report, new Uint8Array(200));
    await expect(server.prepare(A, good.report, good[role])).rejects.toEqual(refused("report-differs"));
    expect(await server.prepare(A, good.report, new Uint8Array(200))).toEqual(verifier);
  });

  it("concludes nothing that it has not prepared, or not yet", async () => {
    const { [role]: server } = await startServers([occurrence]);
    const report = await wrap(A, one);
    expect(() => server.conclude(A, new Uint8Array(33))).toThrow(refused("unknown-device"));
    const preparing = server.prepare(A, report.report, report[role]);
    expect(() => server.conclude(A, new Uint8Array(33))).toThrow(refused("unknown-device"));
    await preparing;
    expect(() => server.conclude(deviceNumber(2), new Uint8Array(33))).toThrow(refused("unknown-device"));
  });

  it("refuses a verifier of the wrong form, and decides when one of the right form comes", async () => {
    const servers = await startServers([occurrence]);
    const report = await wrap(A, one);
    const verifiers = {
      leader: await servers.leader.prepare(A, report.report, report.leader),
      helper: await servers.helper.prepare(A, report.report, report.helper),
    };
    const other = verifiers[role === "leader" ? "helper" : "leader"];
    for (const bad of [new Uint8Array(), other.subarray(1), new Uint8Array(33).fill(255)]) {
      expect(() => servers[role].conclude(A, bad)).toThrow(expect.objectContaining({ code: "bad-encoding" }));
    }
    expect(servers[role].conclude(A, other)).toBe(true);
  });
});

describe("a window", () => {
  const noisy = createTwoServerStatistic({ statistic: "occurrence", noise: "servers", ticks: 1, sigmas: [1e6] });

  it("takes nothing new once it is closed, and gives what it gave before", async () => {
    const servers = await startServers([occurrence]);
    const [concluded, prepared, late] = [A, deviceNumber(2), deviceNumber(3)];
    const reports = await Promise.all([
      wrap(concluded, one),
      wrap(prepared, createForger(prepared).honest(1)),
      wrap(late, createForger(late).honest(1)),
    ]);
    expect(await servers.decide(reports[0])).toEqual({ leader: true, helper: true });
    const verifier = await servers.leader.prepare(prepared, reports[1].report, reports[1].leader);
    const helperVerifier = await servers.helper.prepare(prepared, reports[1].report, reports[1].helper);
    expect(servers.sums()).toEqual([1]);
    for (const role of ROLES) {
      await expect(servers[role].prepare(late, reports[2].report, reports[2][role])).rejects.toEqual(
        refused("window-closed"),
      );
    }
    expect(() => servers.leader.conclude(prepared, helperVerifier)).toThrow(refused("window-closed"));
    expect(await servers.leader.prepare(prepared, reports[1].report, reports[1].leader)).toEqual(verifier);
    expect(servers.leader.conclude(concluded, helperVerifier)).toBe(true);
    expect(servers.sums()).toEqual([1]);
  });

  it("counts a report once, however often it is concluded, valid or not", async () => {
    const servers = await startServers([
      createTwoServerStatistic({
        statistic: "histogram",
        noise: "servers",
        ticks: 1,
        eventsPerTick: 1,
        edges: [0, 1],
        sigma: 0.05,
      }),
    ]);
    const [good, bad] = [await wrap(A, forger.honest(0, 1)), await wrap(deviceNumber(2), new Uint8Array())];
    for (let i = 0; i < 3; i++) {
      expect(await servers.decide(good)).toEqual({ leader: true, helper: true });
      expect(await servers.decide(bad)).toEqual({ leader: false, helper: false });
    }
    expect(servers.sums()).toEqual([1, 1]);
  });

  it("keeps its decision, whatever the other server says later", async () => {
    const servers = await startServers([occurrence]);
    const report = await wrap(A, one);
    await servers.decide(report);
    expect(servers.leader.conclude(A, new Uint8Array(33))).toBe(true);
    expect(servers.sums()).toEqual([1]);
  });

  it("draws its noise once, however often it is closed", async () => {
    const servers = await startServers([noisy]);
    for (const role of ROLES) {
      const closed = servers[role].close().slice();
      for (let i = 0; i < 5; i++) expect(servers[role].close()).toEqual(closed);
    }
    const fresh = await startServers([noisy]);
    expect(addAggregateShares(fresh.leader.close(), fresh.helper.close())).not.toEqual(servers.sums());
    // Each server has its own.
    expect(servers.leader.close()).not.toEqual(servers.helper.close());
  });
});

it("a half is looked into as it came, though the caller uses its array again meanwhile", async () => {
  const servers = await startServers([occurrence]);
  const { report, leader, helper } = await wrap(A, one);
  const half = leader.slice();
  const preparing = servers.leader.prepare(A, report, half);
  half.fill(0);
  const helperVerifier = await servers.helper.prepare(A, report, helper);
  await preparing;
  expect(servers.leader.conclude(A, helperVerifier)).toBe(true);
});

it("a noise that there is not, or that a mean does not have, is refused", () => {
  const mean = { statistic: "mean", ticks: 1, eventsPerTick: 1, limit: 2, sigma: 1 } as const;
  for (const spec of [
    { statistic: "occurrence", ticks: 1, localEpsilons: [1], noise: "both" },
    { statistic: "occurrence", ticks: 1, localEpsilons: [1] },
    { ...mean, noise: "device" },
  ]) {
    expect(() => createTwoServerStatistic(spec as never)).toThrow(/^noise is device or servers/);
  }
});
