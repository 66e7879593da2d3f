import type { Randomness } from "@lethe/core/randomness";
import type { Recorder, SchemeName, StatisticSpec } from "@lethe/core/statistic";
import type { TwoServerSpec } from "@lethe/core/two-server";
import { bytesFrom, oneServer, twoServers } from "../simulated-servers.ts";
import type { Device } from "./games.ts";

/** Whose devices are played against. */
export interface Subject {
  readonly statistic: StatisticSpec["statistic"];
  readonly scheme: SchemeName;
  readonly mode: "one-server" | "two-server";
}

const STATISTICS = ["occurrence", "histogram", "mean"] as const;

export const SUBJECTS: readonly Subject[] = [
  ...STATISTICS.map((statistic): Subject => ({ statistic, scheme: "lattice", mode: "one-server" })),
  ...STATISTICS.map((statistic): Subject => ({ statistic, scheme: "elgamal", mode: "one-server" })),
  ...STATISTICS.map((statistic): Subject => ({ statistic, scheme: "elgamal", mode: "two-server" })),
];

/** Of a window: a device's keys take as long to make ready as some of its writes. */
const TICKS: Readonly<Record<SchemeName, number>> = { lattice: 64, elgamal: 512 };
/** Where an event takes microseconds. */
const MANY = 3;

/** Makes devices, one after another, each with keys of its own. */
export async function deviceMaker(subject: Subject, random: Randomness): Promise<() => Device> {
  const { scheme, mode } = subject;
  const events = scheme === "lattice" && subject.statistic !== "occurrence" ? MANY : 1;
  const spec = specOf(subject, events);
  const servers =
    mode === "two-server" ? await twoServers(twoServerSpecOf(spec), random) : oneServer(scheme, spec, random);
  const parts = scheme === "lattice" ? "coefficients" : "elements";
  return () => ({
    ticks: spec.ticks,
    parts,
    ...scheduled(servers.enrol(bytesFrom(random, 16)), events, metricsIn(spec)),
  });
}

/**
 * Stores at the end of every tick, as the SDK does. In tick t it is the t-th metric that happens: wherever there are several, each
 * event is the first of its kind.
 */
function scheduled(recorder: Recorder, events: number, metrics: number): Pick<Device, "live"> {
  return {
    live: (tick, happens) => {
      for (let i = 0; happens && i < events; i++) recorder.record(tick % metrics);
      const dump = recorder.inspect().ciphertexts;
      return { dump, stored: [{ bytes: recorder.write() as Uint8Array, at: 1 }] };
    },
  };
}

function metricsIn(spec: StatisticSpec): number {
  return spec.statistic === "occurrence" ? spec.localEpsilons.length : 1;
}

function specOf({ statistic, scheme }: Subject, eventsPerTick: number): StatisticSpec {
  const ticks = TICKS[scheme];
  if (statistic === "occurrence") {
    // In a ledger they cost nothing, elsewhere each has its own ciphertext.
    return { statistic, ticks, localEpsilons: new Array<number>(scheme === "lattice" ? ticks : 1).fill(1) };
  }
  if (statistic === "histogram") return { statistic, ticks, eventsPerTick, edges: [0, 1], localEpsilon: 1 };
  return { statistic, ticks, eventsPerTick, limit: 1, sigma: 1 };
}

/** A histogram with noise of its devices has twice as many bits, and takes twice as long: that noise is with occurrences. */
function twoServerSpecOf(spec: StatisticSpec): TwoServerSpec {
  if (spec.statistic === "occurrence") return { ...spec, noise: "device" };
  if (spec.statistic === "mean") return { ...spec, noise: "servers" };
  const { statistic, ticks, eventsPerTick, edges } = spec;
  return { statistic, ticks, eventsPerTick, edges, noise: "servers", sigma: 1 };
}
