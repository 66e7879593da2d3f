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

/** Every statistic with every scheme, and with two servers. */
export const SUBJECTS: readonly Subject[] = [
  ...STATISTICS.map((statistic): Subject => ({ statistic, scheme: "lattice", mode: "one-server" })),
  ...STATISTICS.map((statistic): Subject => ({ statistic, scheme: "elgamal", mode: "one-server" })),
  ...STATISTICS.map((statistic): Subject => ({ statistic, scheme: "elgamal", mode: "two-server" })),
];

/** Segments of a window, half of them ticks. Preparing a device's keys takes as long as several writes, hence many with ElGamal. */
const SEGMENTS: Readonly<Record<SchemeName, number>> = { lattice: 64, elgamal: 512 };
/** Events per segment where an event takes microseconds. */
const MANY = 3;

/** Makes devices, one after another, each with its own keys. */
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
/** Few page hides, because a page that opens prepares its keys again. */
const SEGMENTS_A_PAGE = 16;

/** Depends on the segment's number alone, because the SDK's schedule depends on times, never on events. */
function endOf(segment: number): SegmentEnd {
  if (segment % 2 === 0) return "tick";
  return segment % SEGMENTS_A_PAGE === SEGMENTS_A_PAGE - 1 ? "page hide" : "session";
}

/**
 * A device that writes at the end of every segment, as the SDK does. In segment s the event is of the s-th metric: where there
 * are several, each event is the first of its metric.
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
      // A device that does not write would reveal nothing, and prove nothing.
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
    // In a ledger metrics cost nothing; elsewhere each has its own ciphertext.
    return { statistic, ...writes, localEpsilons: new Array<number>(scheme === "lattice" ? segments : 1).fill(1) };
  }
  if (statistic === "histogram") return { statistic, ...writes, eventsPerTick, edges: [0, 1], localEpsilon: 1 };
  return { statistic, ...writes, eventsPerTick, limit: 1, sigma: 1 };
}

/** Histograms have the noise of the servers here: with that of devices they have twice as many bits and take twice as long. */
function twoServerSpecOf(spec: StatisticSpec): TwoServerSpec {
  if (spec.statistic === "occurrence") return { ...spec, noise: "device" };
  if (spec.statistic === "mean") return { ...spec, noise: "servers" };
  const { localEpsilon: _, mechanism: __, ...counted } = spec;
  return { ...counted, noise: "servers", sigma: 1 };
}
