import type { Randomness } from "@lethe/core/randomness";
import { entryOf, type Recorder, type Settings } from "@lethe/core/statistic";
import type { CollusionSpec, ServerRole, TwoServerSpec } from "@lethe/core/two-server";
import { type Scheduled, scheduled } from "../intrusion/subjects.ts";
import type { View } from "../intrusion/view.ts";
import { bytesFrom } from "../randomness/bytes-from.ts";
import { group, type OpenServers, openServers, type Received, ROLES } from "./servers.ts";
import { relationsIn } from "./view.ts";
import type { Seen, Window } from "./window.ts";

/** The statistics that a task against collusion can have. */
export const PLAYED = ["occurrence", "histogram", "choice", "funnel"] as const;
/** One of them. */
export type PlayedStatistic = (typeof PLAYED)[number];

/** Preparing a device's keys takes as long as several of its writes. */
const SEGMENTS = 32;
const LAST_EDGE = 2;
const SETTINGS: Settings = {
  // The last tick ends with the window, after the games.
  ticks: SEGMENTS / 2 + 1,
  hides: SEGMENTS / 2,
  eventsPerTick: 1,
  metrics: 1,
  edges: [0, 1, LAST_EDGE],
  limit: 1,
  steps: ["one", "two"],
  options: ["one", "two"],
  keep: "last",
  event: "happened",
  periods: 1,
};

function specOf(statistic: PlayedStatistic, collusion: boolean): TwoServerSpec {
  const spec = { ...entryOf(statistic).run.specOf(SETTINGS, { localEpsilon: 1, sigma: 1 }), noise: "device" };
  return (collusion ? { ...spec, collusion: "one-server" } : spec) as CollusionSpec;
}

/** Devices of the mode, as they are: they live through a window, and their reports are received. */
export function realWindows(statistic: PlayedStatistic, random: Randomness): () => Window {
  const servers = openServers(specOf(statistic, true), random);
  return () => {
    const { id, device, live } = watched(servers, random);
    return { segments: SEGMENTS, live, end: () => servers.submit(id, device.seal(leadToOneAnswer(servers))) };
  };
}

/**
 * Algorithm 5 as it is written: the two-server mode without `collusion`. An event replaces the shares of a bit, and
 * everything else leaves them as they are.
 */
export function sharesKept(random: Randomness): () => Window {
  const servers = openServers(specOf("occurrence", false), random);
  return () => {
    const { id, device, live } = watched(servers, random);
    return { segments: SEGMENTS, live, end: () => servers.submit(id, device.seal(leadToOneAnswer(servers))) };
  };
}

/**
 * Devices of the mode, and an intruder who does not only read: they send what the device stored as its report. Each
 * device has one game, because the servers open one report of it.
 */
export function statesSubmitted(random: Randomness): () => Window {
  const servers = openServers(specOf("occurrence", true), random);
  return () => {
    const { id, live, stored } = watched(servers, random);
    // A state has one slot for an occurrence, as a report does.
    return { segments: 2, live, end: () => servers.submit(id, stored()) };
  };
}

/**
 * Events at the end of a window after which a device has the same answer, whatever happened before. So the streams that
 * a game compares have the same answer, and everything that the servers receive can be in the game.
 */
function leadToOneAnswer({ events }: OpenServers): (recorder: Recorder) => void {
  return (recorder) => {
    for (const event of events.keys()) recorder.record(event, LAST_EDGE);
  };
}

interface Version {
  readonly bytes: Uint8Array;
  readonly ciphertexts: Uint8Array;
  readonly opened: Readonly<Record<ServerRole, Opened>>;
}

interface Opened {
  readonly bytes: Uint8Array;
  readonly combinations: ReadonlySet<string>;
}

const relations = relationsIn(group);

function openedFrom(elements: readonly Uint8Array[]): Opened {
  return { bytes: Buffer.concat(elements), combinations: relations.combine(elements) };
}

interface Watched extends Pick<Window, "live"> {
  readonly id: Uint8Array;
  readonly device: Scheduled;
  /** The ciphertexts that were stored last. */
  stored(): Uint8Array;
}

/** A device whose versions are all opened with the keys of either server. */
function watched(servers: OpenServers, random: Randomness): Watched {
  const id = bytesFrom(random, 16);
  const device = scheduled(servers, id, (recorder, segment) => recorder.record(segment % servers.events.length));
  /** A version that was stored begins with a header, which the memory has not. */
  const versionOf = (bytes: Uint8Array, length: number): Version => {
    const ciphertexts = bytes.subarray(bytes.length - length);
    const [leader, helper] = ROLES.map((role) => openedFrom(servers.open(role, id, ciphertexts)));
    return { bytes, ciphertexts, opened: { leader, helper } as Version["opened"] };
  };
  let last: Version | undefined;

  function live(segment: number, happens: boolean): Seen {
    const { dump, stored } = device.live(segment, happens);
    const memory = versionOf(dump, dump.length);
    const before = last ?? memory;
    const after = versionOf(stored.at(-1)?.bytes as Uint8Array, dump.length);
    last = after;
    return (role, received) => viewOf(role, [before, memory, after], received);
  }

  return { id, device, live, stored: () => last?.ciphertexts as Uint8Array };
}

const PARTS = "elements";

function viewOf(
  role: ServerRole,
  versions: readonly [before: Version, memory: Version, after: Version],
  { elements, answer, verifier }: Received,
) {
  const [before, memory, after] = versions;
  const opened = versions.map((version) => version.opened[role]);
  const [openedBefore, openedMemory, openedAfter] = opened.map(({ bytes }) => bytes) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  const view = (first: Uint8Array, dump: Uint8Array, second: Uint8Array): View => ({
    before: first,
    dump,
    stored: [{ bytes: second, at: 1 }],
    parts: PARTS,
  });
  return {
    sealed: view(before.bytes, memory.bytes, after.bytes),
    opened: view(openedBefore, openedMemory, openedAfter),
    relations: relations.count([...opened.map(({ combinations }) => combinations), relations.combine(elements)]),
    answer,
    received: verifier,
  };
}
