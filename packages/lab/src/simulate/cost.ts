import { randomnessFrom } from "@lethe/core/randomness";
import { DEFAULT_HIDES, type Recorder, type SchemeName, type StatisticSpec } from "@lethe/core/statistic";
import type { TwoServerSpec } from "@lethe/core/two-server";
import { median } from "../arithmetic/averages.ts";
import { bytesFrom } from "../randomness/bytes-from.ts";
import { oneServer, type SimulatedServers, twoServers } from "./servers.ts";

/** Median times on this machine, in microseconds. */
export interface MeasuredCost {
  /** A write, which a device makes at every tick. */
  readonly write: number;
  /** Sealing, once per window. Absent if the window has more than 4,000 writes: sealing would then take seconds. */
  readonly seal?: number;
  /** Opening a report, by the server or by both. */
  readonly open?: number;
}

/** In writes. Sealing makes up for those that a device has not made. */
const LONGEST_SEALED = 4000;
/** In bytes. A write of a larger state takes seconds. */
const LARGEST_STATE: Readonly<Record<SchemeName, number>> = { lattice: Number.POSITIVE_INFINITY, elgamal: 10_000 };
/** How long each measurement may take. */
const MILLISECONDS = 300;
const DEVICES = 3;

const random = randomnessFrom(globalThis.crypto);

/**
 * Runs devices for a few ticks and, if that does not take long, seals and opens their reports. Undefined if even a
 * write would take seconds.
 */
export async function measureCost(
  scheme: SchemeName,
  spec: StatisticSpec | TwoServerSpec,
): Promise<MeasuredCost | undefined> {
  const servers = "noise" in spec ? await twoServers(spec, random) : oneServer(scheme, spec, random);
  if (servers.bytes.state > LARGEST_STATE[scheme]) return undefined;
  const devices = Array.from({ length: DEVICES }, () => enrol(servers));
  // Short windows have few writes, and enrolling took one of them.
  const [first] = devices as [Enrolled];
  const write = await medianTime(Math.min(30, spec.ticks), async () => {
    first.stored = first.recorder.write() ?? first.stored;
  });
  if (spec.ticks + (spec.hides ?? DEFAULT_HIDES) > LONGEST_SEALED) return { write };
  const sent: (readonly Uint8Array[])[] = [];
  const seal = await medianTime(DEVICES, async (i) => {
    const { id, recorder, stored } = devices[i] as Enrolled;
    sent.push(await servers.send(id, recorder.seal(stored)));
  });
  const open = await medianTime(sent.length, async (i) => {
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

/** The median time of at least one run, and of as many more as fit into the time. */
async function medianTime(mostRuns: number, task: (run: number) => Promise<void>): Promise<number> {
  const times: number[] = [];
  const end = performance.now() + MILLISECONDS;
  do {
    const start = performance.now();
    await task(times.length);
    times.push(1000 * (performance.now() - start));
  } while (times.length < mostRuns && performance.now() < end);
  return median(times);
}
