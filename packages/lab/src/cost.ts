import { type DeviceKeyContext, secret } from "@lethe/core/encryption";
import { randomnessFrom } from "@lethe/core/randomness";
import { createStatistic, type SchemeName, type StatisticSpec } from "@lethe/core/statistic";

/** Medians on this machine, in microseconds. */
export interface MeasuredCost {
  /** At every tick. */
  readonly write: number;
  /** Once a window; absent for windows so long that sealing would take seconds. */
  readonly seal?: number;
  /** By the server, once a report. */
  readonly open?: number;
}

const LONGEST_SEALED = 2000;
/** ElGamal states of more bytes take seconds for every write. */
const LARGEST_ELGAMAL = 10_000;
/** Enough for a median. */
const MILLISECONDS = 300;

/** Runs a device for a few ticks and, if that does not take long, seals and opens its report; undefined if even a write would take long. */
export function measureCost(scheme: SchemeName, spec: StatisticSpec): MeasuredCost | undefined {
  const random = randomnessFrom(globalThis.crypto);
  const { device, server } = createStatistic(scheme, spec);
  if (scheme === "elgamal" && device.bytes.state > LARGEST_ELGAMAL) return undefined;
  const master = secret(globalThis.crypto.getRandomValues(new Uint8Array(32)));
  const context: DeviceKeyContext = { task: "plan", window: 0, device: new Uint8Array(16), role: "tally", index: 0 };
  const publicKey = server.issueKey(master, context);
  const recorder = device.start(publicKey, random);
  let stored = recorder.write() as Uint8Array;
  // A window allows two writes a tick; of short ones a few are left.
  const write = median(Math.min(30, spec.ticks), () => {
    stored = recorder.write() ?? stored;
  });
  if (spec.ticks > LONGEST_SEALED) return { write };
  const recorders = Array.from({ length: 3 }, () => device.start(publicKey, random));
  let report = new Uint8Array();
  const seal = median(recorders.length, (i) => {
    report = (recorders[i] as typeof recorder).seal(stored) as Uint8Array<ArrayBuffer>;
  });
  const open = median(5, () => server.open(master, context, report, random));
  return { write, seal, open };
}

/** Of at least one run, and of as many more as time allows. */
function median(mostRuns: number, task: (run: number) => void): number {
  const times: number[] = [];
  const end = performance.now() + MILLISECONDS;
  do {
    const start = performance.now();
    task(times.length);
    times.push(1000 * (performance.now() - start));
  } while (times.length < mostRuns && performance.now() < end);
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] as number;
}
