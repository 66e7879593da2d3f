import { expect, it } from "vitest";
import {
  createForger,
  deviceNumber,
  MASTERS,
  ROLES,
  random,
  startServers,
  VERIFY_KEY,
  WINDOW,
  type WrappedReport,
  wrap,
} from "../../test/two-server.ts";
import { isSameBytes } from "../bytes.ts";
import type { ServerRole } from "../sharing/shared-bit.ts";
import { createTwoServerStatistic } from "../statistic/create-two-server.ts";
import { addAggregateShares } from "./aggregate-share.ts";
import { type Aggregator, createAggregator, type KnownReport, prepareReport } from "./aggregator.ts";
import { deriveWrappingKeys } from "./wrapping.ts";

const occurrence = createTwoServerStatistic({ statistic: "occurrence", noise: "servers", ticks: 1, sigmas: [0.05] });

/** What a server with a database keeps between two aggregators. */
interface Stored {
  share?: Uint8Array;
  readonly reports: Map<string, KnownReport>;
}

const emptyStore = (): Stored => ({ reports: new Map() });

function resume(role: ServerRole, stored: Stored): Aggregator {
  return createAggregator({
    role,
    statistics: [occurrence],
    random,
    stored: stored.share,
    known: (device) => stored.reports.get(device.join()),
    prepare: async (device, report, wrapped) => {
      const wrapping = await deriveWrappingKeys(MASTERS[role], { ...WINDOW, role });
      const keys = {
        ...WINDOW,
        role,
        statistics: [occurrence],
        master: MASTERS[role],
        wrapping,
        verifyKey: VERIFY_KEY,
      };
      return prepareReport(keys, { device, report }, wrapped);
    },
  });
}

const reportOf = (number: number, bit: 0 | 1): Promise<WrappedReport> =>
  wrap(deviceNumber(number), createForger(deviceNumber(number)).honest(bit));

/** Counts a report at both servers, each with an aggregator that lives for this report only. */
async function countAlone(stores: Readonly<Record<ServerRole, Stored>>, sent: WrappedReport): Promise<boolean[]> {
  const { device, report } = sent;
  const servers = { leader: resume("leader", stores.leader), helper: resume("helper", stores.helper) };
  const verifiers = {
    leader: await servers.leader.prepare(device, report, sent.leader),
    helper: await servers.helper.prepare(device, report, sent.helper),
  };
  return ROLES.map((role) => {
    const valid = servers[role].conclude(device, verifiers[role === "leader" ? "helper" : "leader"]);
    stores[role].share = servers[role].unfinished();
    stores[role].reports.set(device.join(), {
      verifier: verifiers[role],
      isSame: (id, half) => isSameBytes(id, report) && isSameBytes(half, sent[role]),
    });
    return valid;
  });
}

it("aggregators that live for one report each count like one that keeps all reports in memory", async () => {
  const reports = await Promise.all([
    reportOf(1, 1),
    reportOf(2, 0),
    reportOf(3, 1),
    wrap(deviceNumber(4), new Uint8Array()),
  ]);
  const stores = { leader: emptyStore(), helper: emptyStore() };
  const servers = await startServers([occurrence]);
  for (const report of reports) {
    expect(await countAlone(stores, report)).toEqual(Object.values(await servers.decide(report)));
  }
  const [leader, helper] = ROLES.map((role) => resume(role, stores[role]).close()) as [Uint8Array, Uint8Array];
  expect(addAggregateShares(leader, helper)).toEqual(servers.sums());
});

it.each(ROLES)(
  "a %s that resumes gives a report that was counted the same answer, refuses others, and counts none again",
  async (role) => {
    const stores = { leader: emptyStore(), helper: emptyStore() };
    const [first, second] = [await reportOf(1, 1), await reportOf(1, 1)];
    await countAlone(stores, first);
    const before = stores[role].share;
    const server = resume(role, stores[role]);
    const verifier = stores[role].reports.get(first.device.join())?.verifier;
    expect(await server.prepare(first.device, first.report, first[role])).toEqual(verifier);
    await expect(server.prepare(first.device, second.report, second[role])).rejects.toMatchObject({
      code: "report-differs",
    });
    expect(() => server.conclude(first.device, new Uint8Array(33))).toThrow(
      expect.objectContaining({ code: "unknown-device" }),
    );
    expect(server.unfinished()).toEqual(before);
    server.close();
    // The share without noise is not given away once there is one with noise.
    expect(() => server.unfinished()).toThrow(expect.objectContaining({ code: "window-closed" }));
  },
);
