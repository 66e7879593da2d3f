import { type DeviceKeyContext, secret } from "@lethe/core/encryption";
import { reportBytes } from "@lethe/core/message";
import type { Randomness } from "@lethe/core/randomness";
import {
  createStatistic,
  type Recorder,
  type SchemeName,
  type ServerSide,
  type StatisticBytes,
  type StatisticSpec,
} from "@lethe/core/statistic";
import {
  type Aggregator,
  addAggregateShares,
  createAggregator,
  createTwoServerStatistic,
  issueShareKeys,
  type ServerRole,
  sharingContext,
  splitSharedSlots,
  type TwoServerSpec,
  type TwoServerStatistic,
  twoServerReportBytes,
  wrapReport,
} from "@lethe/core/two-server";
import { deriveNodeWrappingKeys, type NodeWrappingKeys } from "@lethe/server/hpke";
import { loadRistretto } from "@lethe/server/ristretto";
import { bytesFrom } from "../randomness/bytes-from.ts";

/** The servers of a simulated fleet, one or two, with their keys. They have no database and no network. */
export interface SimulatedServers {
  /** The report as it is uploaded, header included. */
  readonly bytes: StatisticBytes;
  readonly estimates: Pick<ServerSide, "estimate" | "consistent" | "localEpsilon" | "mechanism">;
  /** What a device records, in the order in which its recorder numbers it. */
  readonly events: readonly string[];
  /** Issues keys to a new device and starts its recorder. */
  enrol(device: Uint8Array): Recorder;
  /** The recorder of a device that was closed and opens again, in the same tick or in another. */
  resume(device: Uint8Array, stored: Uint8Array, sameTick: boolean): Recorder;
  /** What the device sends, once its recorder is sealed. */
  send(device: Uint8Array, sealed: Uint8Array): Promise<readonly Uint8Array[]>;
  /** Opens and counts a report; whether it was valid. */
  receive(device: Uint8Array, sent: readonly Uint8Array[]): Promise<boolean>;
  /** All answers added up, after the last report. */
  sums(): readonly number[];
}

const WINDOW = { task: "simulation", window: 0 } as const;
/** The servers compute as the service does. */
const group = await loadRistretto();

/** One server that holds the key, for any scheme. */
export function oneServer(scheme: SchemeName, spec: StatisticSpec, random: Randomness): SimulatedServers {
  const { device, server } = createStatistic(scheme, spec, group);
  const master = secret(bytesFrom(random, 32));
  const keyOf = (id: Uint8Array): DeviceKeyContext => ({ ...WINDOW, device: id, role: "tally", index: 0 });
  let sums: number[] | undefined;
  return {
    bytes: { ...device.bytes, report: reportBytes([{ device }]) },
    estimates: server,
    events: device.events,
    enrol: (id) => device.start(server.issueKey(master, keyOf(id)), random),
    resume: (id, stored, sameTick) => device.resume(server.issueKey(master, keyOf(id)), stored, sameTick, random),
    send: async (_id, sealed) => [sealed],
    receive: async (id, [report]) => {
      const { valid, answers } = server.open(master, keyOf(id), report as Uint8Array, random);
      sums = answers.map((answer, i) => answer + (sums?.[i] ?? 0));
      return valid;
    },
    sums: () => sums ?? [],
  };
}

const ROLES = ["leader", "helper"] as const;

/** How what a device seals is split into halves, if not as shared bits are. */
function splitOf({ collusion }: TwoServerStatistic): typeof splitSharedSlots | undefined {
  return collusion && splitSharedSlots;
}

/** A leader and a helper, each with its share of every key, which verify reports together. */
export async function twoServers(spec: TwoServerSpec, random: Randomness): Promise<SimulatedServers> {
  const statistic = createTwoServerStatistic(spec);
  const device = statistic.device(sharingContext(WINDOW));
  const verifyKey = bytesFrom(random, 32);
  const [leader, helper] = [createServer("leader"), createServer("helper")];
  const servers = { leader, helper };

  function createServer(role: ServerRole): SimulatedServer {
    const master = secret(bytesFrom(random, 32));
    const wrapping = deriveNodeWrappingKeys(master, { ...WINDOW, role });
    const aggregator = createAggregator({
      ...WINDOW,
      role,
      statistics: [statistic],
      master,
      wrapping,
      verifyKey,
      random,
      group,
    });
    return { issueKeys: (id) => issueShareKeys(role, master, WINDOW, id, group), wrapping, aggregator };
  }

  const keysOf = (id: Uint8Array): Uint8Array =>
    Uint8Array.from(ROLES.flatMap((role) => [...servers[role].issueKeys(id)]));

  return {
    bytes: { ...statistic.bytes, report: twoServerReportBytes([{ statistic }]) },
    estimates: statistic,
    events: device.events,
    enrol: (id) => device.start(keysOf(id), random),
    resume: (id, stored, sameTick) => device.resume(keysOf(id), stored, sameTick, random),
    send: async (id, sealed) => {
      const report = bytesFrom(random, 16);
      const keys = { leader: leader.wrapping.publicKey, helper: helper.wrapping.publicKey };
      const halves = await wrapReport(keys, { ...WINDOW, device: id, report }, sealed, random, splitOf(statistic));
      return [report, halves.leader, halves.helper];
    },
    receive: async (id, sent) => {
      const [report, leaderHalf, helperHalf] = sent as [Uint8Array, Uint8Array, Uint8Array];
      const fromLeader = await leader.aggregator.prepare(id, report, leaderHalf);
      const fromHelper = await helper.aggregator.prepare(id, report, helperHalf);
      helper.aggregator.conclude(id, fromLeader);
      return leader.aggregator.conclude(id, fromHelper);
    },
    sums: () => addAggregateShares(leader.aggregator.close(), helper.aggregator.close()),
  };
}

interface SimulatedServer {
  issueKeys(device: Uint8Array): Uint8Array;
  readonly wrapping: NodeWrappingKeys;
  readonly aggregator: Aggregator;
}
