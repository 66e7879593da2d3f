import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Task } from "@lethe/core/message";
import { askToEnrol } from "../../server/test/device.ts";
import { eventually } from "../../server/test/eventually.ts";
import { createTask, type TestService } from "../../server/test/service.ts";
import { decodeRecord } from "../dist/record-codec.js";
import { DISTINGUISHERS, rankSumProbability } from "./distinguishers.ts";

/** So long that devices, which choose a millisecond of the first half of a window to enrol, never choose the first. */
const TICK_SECONDS = 86_400;
const TICKS = 6;
const HIDES = 20;
const WINDOW_SECONDS = TICKS * TICK_SECONDS;

/** Nowhere else on a disk. */
export const NAMES: readonly string[] = ["quixotic.zephyr-capybara", "vexing.jackdaw-sphinx"];
/** So many that structured clones hold it as a double; a tick counts a few of them. */
export const TIMES = 6_283_185_307_179;

const TASK: Task = {
  version: 1,
  task: "",
  tickSeconds: TICK_SECONDS,
  ticks: TICKS,
  hides: HIDES,
  graceSeconds: 60,
  mode: "one-server",
  scheme: "lattice",
  minimumDevices: 1,
  metrics: [
    { name: NAMES[0] as string, statistic: "occurrence", localEpsilon: 1 },
    { name: NAMES[1] as string, statistic: "histogram", edges: [0, 1, 2], eventsPerTick: 2, localEpsilon: 1 },
  ],
};

/** Of the same events. They run on ElGamal only. */
const AUTOMATA: Task["metrics"] = [
  { name: "funnel", statistic: "funnel", steps: NAMES, localEpsilon: 1 },
  { name: "retention", statistic: "retention", event: NAMES[1] as string, periods: 3, localEpsilon: 1 },
];

/** ElGamal has no limit on events, and ignores `eventsPerTick`. */
export async function newTask(service: TestService, scheme: "lattice" | "elgamal" = "lattice"): Promise<string> {
  // Long computations may have come before: a connection that was kept is dead then.
  await eventually(() => fetch(`${service.url}/healthz`).catch(() => undefined));
  const task = `forensics-${randomUUID()}`;
  const metrics = scheme === "elgamal" ? [...TASK.metrics, ...AUTOMATA] : TASK.metrics;
  await createTask(service, { ...TASK, task, scheme, metrics });
  return task;
}

/**
 * Before devices open. Waits for the keys of the window: devices that enrol seconds after others would write at other
 * moments.
 */
export async function toNextWindow(service: TestService, task: string): Promise<void> {
  const { clock } = service;
  clock.advance(WINDOW_SECONDS - ((clock() / 1000) % WINDOW_SECONDS));
  const window = clock() / 1000 / WINDOW_SECONDS;
  await eventually(async () => ((await askToEnrol(service, task, window)).ok ? true : undefined));
}

/** Devices that are moved together. */
export interface Fleet {
  readonly task: string;
  /** Lets them do what the clock asks for. */
  live(): Promise<void>;
  isEnrolled(): Promise<boolean>;
  record(): Promise<void>;
}

/** From the beginning of a window to that of the next, when reports are sealed and sent. */
export async function throughWindow(service: TestService, fleet: Fleet): Promise<void> {
  const { clock } = service;
  // Keys are made ahead, but not at once.
  for (await fleet.live(); !(await fleet.isEnrolled()); await fleet.live()) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    clock.advance(1);
  }
  const next = Math.floor(clock() / 1000 / WINDOW_SECONDS) + 1;
  await eventually(async () => ((await askToEnrol(service, fleet.task, next)).ok ? true : undefined));
  // Sessions write 1, 5 and 20 seconds after they began to count; not all began at once.
  for (const seconds of [1, 4, 15]) {
    await fleet.record();
    clock.advance(seconds);
    await fleet.live();
  }
  for (let ticks = 0; ticks < TICKS; ticks++) {
    await fleet.record();
    clock.advance(TICK_SECONDS - ((clock() / 1000) % TICK_SECONDS));
    await fleet.live();
  }
}

/** One device, with events in every tick or none at all. */
export interface Run {
  readonly happened: boolean;
  /** Of the record, all that the disk has, in the order they were written. */
  readonly versions: readonly Uint8Array[];
  /** Of everything that the disk keeps for it. */
  readonly diskBytes: number;
  /** In a browser: the size of each write to localStorage, whether it reached the disk or not. */
  readonly localSizes?: readonly number[];
  /**
   * In a browser: of the versions in localStorage, those that the disk has. How many depends on when the browser wrote.
   */
  readonly localVersions?: readonly Uint8Array[];
}

export interface Found {
  /**
   * For the record: how many runs of each kind, of how many versions of how many bytes; and what each distinguisher
   * came to.
   */
  readonly figures: Readonly<Record<string, unknown>>;
  /** What distinguishes runs with events from those without; empty if nothing does. */
  readonly tells: readonly string[];
}

/**
 * Whether the disk tells runs with events from runs without. Numbers and sizes of versions must be the same; each
 * distinguisher sees the whole records, and the ciphertexts alone, which anybody can find in them.
 * Where nothing distinguishes them, there are tells with probability below 1e-6.
 */
export function tellApart(runs: readonly Run[], operatorKey: string, clearText: readonly string[]): Found {
  const tells = clearText.length > 0 ? ["clear text"] : [];
  const shapes = new Set(runs.map(({ versions }) => versions.map(({ length }) => length).join()));
  if (shapes.size > 1) tells.push("number or sizes of versions");
  const local = runs.map(({ localVersions = [] }) => localVersions);
  const localSizes = new Set(runs.flatMap((run) => (run.localSizes ? [run.localSizes.join()] : [])));
  if (localSizes.size > 1 || new Set(local.flat().map(({ length }) => length)).size > 1) {
    tells.push("number or sizes of versions in localStorage");
  }
  const numbers: Record<string, readonly number[]> = { "bytes on disk": runs.map(({ diskBytes }) => diskBytes) };
  const states = runs.map(({ versions }) => versions.flatMap((bytes) => statesIn(bytes, operatorKey)));
  for (const [name, distinguish] of Object.entries(DISTINGUISHERS)) {
    numbers[`${name}, records`] = runs.map(({ versions }) => distinguish(versions));
    numbers[`${name}, ciphertexts`] = states.map(distinguish);
    if (local.flat().length > 0) numbers[`${name}, localStorage`] = local.map(distinguish);
  }
  const level = 1e-6 / Object.keys(numbers).length;
  const probabilities: Record<string, number> = {};
  for (const [name, values] of Object.entries(numbers)) {
    const [withEvents, without] = [true, false].map((kind) => values.filter((_, i) => runs[i]?.happened === kind));
    const probability = rankSumProbability(withEvents ?? [], without ?? []);
    probabilities[name] = Number(probability.toPrecision(3));
    if (probability < level) tells.push(name);
  }
  const [withEvents, without] = [true, false].map((kind) => runs.filter(({ happened }) => happened === kind).length);
  const versions = [...new Set(runs.map(({ versions: { length } }) => length))];
  const bytes = [...new Set(runs.flatMap((run) => run.versions.map(({ length }) => length)))];
  const localVersions = [...new Set(local.map(({ length }) => length))];
  const figures = {
    withEvents,
    without,
    versions,
    localVersions,
    localSizes: [...localSizes],
    bytes,
    level,
    probabilities,
  };
  return { figures, tells };
}

/** What is head and key is the same from one version to the next, events or not. */
function statesIn(record: Uint8Array, operatorKey: string): Uint8Array[] {
  return decodeRecord(record, operatorKey)
    .windows.map(({ state }) => state)
    .filter(({ length }) => length > 0);
}

/** Where in the files of a folder an event's name or number is in clear. */
export function clearTextIn(folder: string): string[] {
  const number = Buffer.alloc(8);
  number.writeDoubleLE(TIMES);
  const texts = [...NAMES, `${TIMES}`];
  const wanted = [
    number,
    ...texts.flatMap((text) => (["utf8", "utf16le"] as const).map((form) => Buffer.from(text, form))),
  ];
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => join(parentPath, name)).filter((path) => contains(path, wanted));
}

function contains(path: string, wanted: readonly Buffer[]): boolean {
  const bytes = readFileSync(path);
  return wanted.some((text) => bytes.includes(text));
}

/** All bytes of all files in a folder. */
export function bytesIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + readFileSync(join(parentPath, name)).length, 0);
}
