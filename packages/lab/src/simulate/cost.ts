import { randomnessFrom } from "@lethe/core/randomness";
import { DEFAULT_HIDES, type Recorder, type SchemeName, type StatisticSpec } from "@lethe/core/statistic";
import type { TwoServerSpec } from "@lethe/core/two-server";
import { bytesFrom } from "../randomness/bytes-from.ts";
import { oneServer, type SimulatedServers, twoServers } from "./servers.ts";

/** Medians on this machine, in microseconds. */
export interface MeasuredCost {
  /** At every tick. */
  readonly write: number;
  /** Once a window; absent for windows so long that sealing would take seconds. */
  readonly seal?: number;
  /** By the server, or by both, once a report. */
  readonly open?: number;
}

/** In writes: sealing makes up for those that are missing. */
const LONGEST_SEALED = 4000;
/** ElGamal states of more bytes take seconds for every write. */
const LARGEST_ELGAMAL = 10_000;
/** Enough for a median. */
const MILLISECONDS = 300;
const DEVICES = 3;

const random = randomnessFrom(globalThis.crypto);

/** Runs devices for a few ticks and, if that does not take long, seals and opens their reports; undefined if even a write would take long. */
export async function measureCost(
  scheme: SchemeName,
  spec: StatisticSpec | TwoServerSpec,
): Promise<MeasuredCost | undefined> {
  const servers = "noise" in spec ? await twoServers(spec, random) : oneServer(scheme, spec, random);
  if (scheme === "elgamal" && servers.bytes.state > LARGEST_ELGAMAL) return undefined;
  const devices = Array.from({ length: DEVICES }, () => enrol(servers));
  // Short windows have few writes, of which enrolling took one.
  const [first] = devices as [Enrolled];
  const write = await median(Math.min(30, spec.ticks), async () => {
    first.stored = first.recorder.write() ?? first.stored;
  });
  if (spec.ticks + (spec.hides ?? DEFAULT_HIDES) > LONGEST_SEALED) return { write };
  const sent: (readonly Uint8Array[])[] = [];
  const seal = await median(DEVICES, async (i) => {
    const { id, recorder, stored } = devices[i] as Enrolled;
    sent.push(await servers.send(id, recorder.seal(stored)));
  });
  const open = await median(sent.length, async (i) => {
    await servers.receive((devices[i] as Enrolled).id, sent[i] as readonly Uint8Array[]);
  });
  return { write, seal, open };
}

interface Enrolled {
  readonly id: Uint8Array;
  readonly recorder: Recorder;
  stored: Uint8Array;
}

function enrol(servers: SimulatedServers): Enrolled {
  const id = bytesFrom(random, 16);
  const recorder = servers.enrol(id);
  return { id, recorder, stored: recorder.write() as Uint8Array };
}

/** Of at least one run, and of as many more as time allows. */
async function median(mostRuns: number, task: (run: number) => Promise<void>): Promise<number> {
  const times: number[] = [];
  const end = performance.now() + MILLISECONDS;
  do {
    const start = performance.now();
    await task(times.length);
    times.push(1000 * (performance.now() - start));
  } while (times.length < mostRuns && performance.now() < end);
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] as number;
}
