import { secret } from "@lethe/core/encryption";
import { LetheError } from "@lethe/core/error";
import type { Randomness } from "@lethe/core/randomness";
import {
  type AggregatorOptions,
  createAggregator,
  createTwoServerStatistic,
  deriveWrappingKeys,
  issueShareKeys,
  prepareReport,
  REPORT_ID_BYTES,
  type ServerRole,
  sharingContext,
  type WrappingKeys,
  wrapReport,
} from "@lethe/core/two-server";
import { bytesFrom } from "../randomness/bytes-from.ts";
import type { Attack, Bit } from "./attack.ts";
import { requireStored } from "./captured-ledger.ts";
import { measurementOn, queryPoint, type WirePoint, wireIn } from "./wire-of-proof.ts";

const WINDOW = { task: "attacked", window: 0 } as const;
const CTX = sharingContext(WINDOW);
/** If the servers add the noise, the device shares the bit itself. */
const statistic = createTwoServerStatistic({ statistic: "occurrence", noise: "servers", ticks: 1, sigmas: [1] });

/**
 * One of the two servers is curious: it follows the protocol, but looks at what it receives. An intruder sends what
 * they captured of a device as its report, and again under another report id. If both are answered, the curious server
 * has two points of a line. Lethe's servers answer for one report of a device and refuse any other; the intruder then
 * sends the sharing in the name of an invented device.
 */
export const doubleQuery: Attack = {
  name: "double query",
  defence: "each sharing is queried once",
  play: async (defended, { fresh }) => {
    const device = bytesFrom(fresh, 16);
    const servers = await createServers(fresh);
    const [before, after] = captureBeforeAndAfter(servers.issueKeys(device), fresh);
    const guess = async (sharing: Uint8Array): Promise<Bit> => {
      const send = servers.start(defended);
      const first = await send(device, sharing);
      const second = (await send(device, sharing)) ?? (await send(bytesFrom(fresh, 16), sharing));
      if (first === undefined || second === undefined) throw new TypeError("a device's first report is answered");
      return measurementOn(first, second) === 1n ? 1 : 0;
    };
    return [{ effort: 2, of0: await guess(before), of1: await guess(after) }];
  },
};

/** The encrypted sharings that a device stores before the event and after it. */
function captureBeforeAndAfter(publicKeys: Uint8Array, random: Randomness): [before: Uint8Array, after: Uint8Array] {
  const { start, bytes } = statistic.device(CTX);
  const recorder = start(publicKeys, random);
  // Behind a header.
  const capture = () => requireStored(recorder.write({ endsTick: false })).subarray(bytes.state - bytes.report);
  const before = capture();
  recorder.record(0);
  return [before, capture()];
}

/** What the curious server learns from a report; undefined if it is refused. */
type Send = (device: Uint8Array, sharing: Uint8Array) => Promise<WirePoint | undefined>;

interface Servers {
  issueKeys(device: Uint8Array): Uint8Array;
  /** Both servers, before their first report. */
  start(defended: boolean): Send;
}

async function createServers(random: Randomness): Promise<Servers> {
  const verifyKey = bytesFrom(random, 32);
  const optionsOf = async (role: ServerRole): Promise<AggregatorOptions & { wrapping: WrappingKeys }> => {
    const master = secret(bytesFrom(random, 32));
    const wrapping = await deriveWrappingKeys(master, { ...WINDOW, role });
    return { ...WINDOW, role, statistics: [statistic], master, wrapping, verifyKey, random };
  };
  const [leader, helper] = [await optionsOf("leader"), await optionsOf("helper")];
  const wrappingKeys = { leader: leader.wrapping.publicKey, helper: helper.wrapping.publicKey };

  return {
    issueKeys: (device) =>
      Uint8Array.from(
        [leader, helper].flatMap(({ role, master }) => [...issueShareKeys(role, master, WINDOW, device)]),
      ),
    start: (defended) => {
      const prepareAt = { leader: preparing(leader, defended), helper: preparing(helper, defended) };
      return async (device, sharing) => {
        const report = bytesFrom(random, REPORT_ID_BYTES);
        const halves = await wrapReport(wrappingKeys, { ...WINDOW, device, report }, sharing, random);
        const verifiers = await unlessRefused(async () => [
          await prepareAt.leader(device, report, halves.leader),
          await prepareAt.helper(device, report, halves.helper),
        ]);
        return verifiers && { x: queryPoint(verifyKey, CTX, report), y: wireIn(verifiers) };
      };
    },
  };
}

/** Without the defence, a server does for every report what it should do only for the first one of a device. */
function preparing(options: AggregatorOptions, defended: boolean): ReturnType<typeof createAggregator>["prepare"] {
  if (defended) return createAggregator(options).prepare;
  return async (device, report, half) => (await prepareReport(options, { device, report }, half)).verifier;
}

async function unlessRefused<T>(answer: () => Promise<T>): Promise<T | undefined> {
  try {
    return await answer();
  } catch (error) {
    if (error instanceof LetheError && error.code === "report-differs") return undefined;
    throw error;
  }
}
