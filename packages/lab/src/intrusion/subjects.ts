import type { Randomness } from "@lethe/core/randomness";
import {
  entryOf,
  isJoint,
  limitsEvents,
  type Recorder,
  SCHEMES,
  type SchemeName,
  type Settings,
  STATISTICS,
  type StatisticName,
  schemesOf,
  twoServerRunOf,
} from "@lethe/core/statistic";
import type { TwoServerSpec } from "@lethe/core/two-server";
import { bytesFrom } from "../randomness/bytes-from.ts";
import { oneServer, type SimulatedServers, twoServers } from "../simulate/servers.ts";
import type { Device, Seen } from "./games.ts";

/** Whose devices are played against. */
export interface Subject {
  readonly statistic: StatisticName;
  readonly scheme: SchemeName;
  readonly mode: "one-server" | "two-server";
}

/** Of the statistics that are automata, which all run in the same way: one of these has periods, the other has none. */
const AUTOMATA: readonly StatisticName[] = ["funnel", "retention"];

/** These, and every other statistic, with every scheme that it runs on, and with two servers if it runs there. */
const PLAYED = STATISTICS.filter((statistic) => entryOf(statistic).plan.settings || AUTOMATA.includes(statistic));

/** What is played against. */
export const SUBJECTS: readonly Subject[] = [
  ...SCHEMES.flatMap((scheme) =>
    PLAYED.filter((statistic) => schemesOf(statistic).includes(scheme)).map(
      (statistic): Subject => ({ statistic, scheme, mode: "one-server" }),
    ),
  ),
  ...STATISTICS.filter((statistic) => entryOf(statistic).run.twoServers).map(
    (statistic): Subject => ({ statistic, scheme: "elgamal", mode: "two-server" }),
  ),
];

/** How devices are played against on a scheme. */
interface Conditions {
  /** Of a window, half of them ticks. Preparing a device's keys takes as long as several of its writes. */
  readonly segments: number;
  readonly parts: Device["parts"];
  /** Of an occurrence statistic: in a ledger they cost nothing, elsewhere each has its own ciphertext. */
  readonly metrics: number;
}

const CONDITIONS: Readonly<Record<SchemeName, Conditions>> = {
  lattice: { segments: 64, parts: "coefficients", metrics: 64 },
  elgamal: { segments: 512, parts: "elements", metrics: 1 },
};
/** Events per segment where an event takes microseconds. */
const MANY = 3;
const SIGMA = 1;

/** Makes devices, one after another, each with its own keys. */
export async function deviceMaker(subject: Subject, random: Randomness): Promise<() => Device> {
  const { statistic, scheme } = subject;
  const { segments, parts, metrics } = CONDITIONS[scheme];
  const events = limitsEvents(scheme, statistic) ? MANY : 1;
  const settings: Settings = {
    ticks: segments / 2,
    hides: segments / 2,
    eventsPerTick: events,
    metrics,
    edges: [0, 1],
    limit: 1,
    steps: ["happened"],
    event: "happened",
    periods: 2,
  };
  const servers = await serversOf(subject, settings, random);
  const recorded = isJoint(statistic) ? metrics : 1;
  // In segment s the event is of the s-th metric: where there are several, each event is the first of its metric.
  const record = (recorder: Recorder, segment: number): void => {
    for (let i = 0; i < events; i++) recorder.record(segment % recorded);
  };
  return () => ({ segments, parts, ...scheduled(servers, bytesFrom(random, 16), record) });
}

/**
 * With two servers, the devices' noise is tried with occurrences alone: a histogram with it has twice as many bits, and
 * takes twice as long, and a mean cannot have it.
 */
function serversOf(
  { statistic, scheme, mode }: Subject,
  settings: Settings,
  random: Randomness,
): SimulatedServers | Promise<SimulatedServers> {
  const { run } = entryOf(statistic);
  const spec = run.specOf(settings, { localEpsilon: 1, sigma: SIGMA });
  if (mode === "one-server") return oneServer(scheme, spec, random);
  if (isJoint(statistic)) return twoServers({ ...spec, noise: "device" } as TwoServerSpec, random);
  return twoServers(twoServerRunOf(statistic).serverNoiseSpecOf(settings, SIGMA), random);
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

/** A device that lives by the SDK's schedule. */
export interface Scheduled {
  live(segment: number, happens: boolean): Seen;
  /** Ends the window after some last events, and returns what the device seals. */
  seal(record: (recorder: Recorder) => void): Uint8Array;
}

/** A device that writes at the end of every segment, as the SDK does. `record` records the event of a segment. */
export function scheduled(
  servers: Pick<SimulatedServers, "enrol" | "resume">,
  id: Uint8Array,
  record: (recorder: Recorder, segment: number) => void,
): Scheduled {
  let recorder = servers.enrol(id);
  const written = (endsTick: boolean): Uint8Array => {
    const bytes = recorder.write({ endsTick });
    // A device that does not write would reveal nothing, and prove nothing.
    if (!bytes) throw new Error("the device has no write left");
    return bytes;
  };
  return {
    live: (segment, happens) => {
      // Even segments end their ticks.
      recorder.reach(Math.ceil(segment / 2));
      if (happens) record(recorder, segment);
      const dump = recorder.inspect().ciphertexts;
      const end = endOf(segment);
      const bytes = written(end === "tick");
      if (end === "page hide") recorder = servers.resume(id, bytes, true);
      return { dump, stored: [{ bytes, at: 1 }] };
    },
    seal: (last) => {
      last(recorder);
      return recorder.seal(written(true));
    },
  };
}
