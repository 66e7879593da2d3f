import type { Randomness } from "@lethe/core/randomness";
import type { SchemeName, StatisticSpec } from "@lethe/core/statistic";
import type { TwoServerSpec } from "@lethe/core/two-server";
import { bytesFrom } from "../randomness/bytes-from.ts";
import { oneServer, type SimulatedServers, twoServers } from "../simulate/servers.ts";
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

/** Of a window, half of them ticks: a device's keys take as long to make ready as some of its writes. */
const SEGMENTS: Readonly<Record<SchemeName, number>> = { lattice: 64, elgamal: 512 };
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
    segments: SEGMENTS[scheme],
    parts,
    ...scheduled(servers, bytesFrom(random, 16), events, metricsIn(spec)),
  });
}

/** What ends a segment: the tick, a moment at which a session writes, or a page that is hidden and opened again. */
type SegmentEnd = "tick" | "session" | "page hide";
/** A page that opens makes its keys ready again. */
const SEGMENTS_A_PAGE = 16;

/** By the segment's number alone, as the SDK's schedule knows times and no events. */
function endOf(segment: number): SegmentEnd {
  if (segment % 2 === 0) return "tick";
  return segment % SEGMENTS_A_PAGE === SEGMENTS_A_PAGE - 1 ? "page hide" : "session";
}

/**
 * Stores at the end of every segment, as the SDK does. In segment s it is the s-th metric that happens: wherever there are several, each
 * event is the first of its kind.
 */
function scheduled(
  servers: Pick<SimulatedServers, "enrol" | "resume">,
  id: Uint8Array,
  events: number,
  metrics: number,
): Pick<Device, "live"> {
  let recorder = servers.enrol(id);
  return {
    live: (segment, happens) => {
      for (let i = 0; happens && i < events; i++) recorder.record(segment % metrics);
      const dump = recorder.inspect().ciphertexts;
      const end = endOf(segment);
      const bytes = recorder.write({ endsTick: end === "tick" });
      // A device that does not write would tell nothing, and prove nothing.
      if (!bytes) throw new Error(`segment ${segment} has no write left`);
      if (end === "page hide") recorder = servers.resume(id, bytes, true);
      return { dump, stored: [{ bytes, at: 1 }] };
    },
  };
}

function metricsIn(spec: StatisticSpec): number {
  return spec.statistic === "occurrence" ? spec.localEpsilons.length : 1;
}

function specOf({ statistic, scheme }: Subject, eventsPerTick: number): StatisticSpec {
  const segments = SEGMENTS[scheme];
  const writes = { ticks: segments / 2, hides: segments / 2 };
  if (statistic === "occurrence") {
    // In a ledger they cost nothing, elsewhere each has its own ciphertext.
    return { statistic, ...writes, localEpsilons: new Array<number>(scheme === "lattice" ? segments : 1).fill(1) };
  }
  if (statistic === "histogram") return { statistic, ...writes, eventsPerTick, edges: [0, 1], localEpsilon: 1 };
  return { statistic, ...writes, eventsPerTick, limit: 1, sigma: 1 };
}

/** A histogram with noise of its devices has twice as many bits, and takes twice as long: that noise is with occurrences. */
function twoServerSpecOf(spec: StatisticSpec): TwoServerSpec {
  if (spec.statistic === "occurrence") return { ...spec, noise: "device" };
  if (spec.statistic === "mean") return { ...spec, noise: "servers" };
  const { localEpsilon: _, mechanism: __, ...counted } = spec;
  return { ...counted, noise: "servers", sigma: 1 };
}
