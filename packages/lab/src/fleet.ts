import { setTimeout as sleep } from "node:timers/promises";
import { LetheError } from "@lethe/core/error";
import {
  decodeOperatorKey,
  decodePublicKeys,
  type Enrolment,
  encodeBase64url,
  encodeReport,
  isProblemCode,
  type LayoutPart,
  layoutOf,
  type Manifest,
  manifestHash,
  parseEnrolment,
  parseManifest,
  parseSignedManifest,
  publicKeysSigningBytes,
  type TaskLayout,
} from "@lethe/core/message";
import { type Randomness, randomnessFrom, uniformBelow } from "@lethe/core/randomness";
import { bucketName, bucketOf } from "@lethe/core/statistic";

/** A task as its devices know it, after its signature was checked. */
export interface KnownTask {
  readonly server: string;
  readonly manifest: Manifest;
  readonly hash: Uint8Array;
  readonly layout: TaskLayout;
  readonly operatorKey: string;
}

/** A device that is enrolled in a window. */
export interface EnrolledDevice {
  readonly task: KnownTask;
  readonly window: number;
  readonly enrolment: Enrolment;
}

export interface FleetOptions {
  readonly server: string;
  readonly task: string;
  readonly devices: number;
  /** In each tick each device has an event of each metric with this probability. */
  readonly rate: number;
  /** Pinned as an application would; trusted on first use if absent. */
  readonly operatorKey?: string;
}

/** One figure that is true, beside which a release can be laid. */
export interface Truth {
  readonly name: string;
  /** Of a histogram. */
  readonly bucket?: string;
  readonly truth: number;
}

export interface FleetResult {
  readonly task: string;
  readonly window: number;
  readonly devices: number;
  readonly truth: readonly Truth[];
}

const random: Randomness = randomnessFrom(globalThis.crypto);

/** Fetches a task's manifest, as it is in a window if one is given, and checks its signature. */
export async function fetchTask(server: string, name: string, pinned?: string, window?: number): Promise<KnownTask> {
  const response = await request(`${server}/v1/tasks/${name}${window === undefined ? "" : `?window=${window}`}`);
  const { manifest: text, signature } = parseSignedManifest(await response.text());
  const manifest = parseManifest(text);
  const operatorKey = pinned ?? manifest.servers[0]?.key ?? "";
  await requireSignature(operatorKey, signature, new TextEncoder().encode(text), "the manifest");
  if (manifest.task !== name || manifest.fromWindow > (window ?? manifest.fromWindow)) {
    throw new LetheError(
      "bad-signature",
      `this is the manifest of ${manifest.task} from window ${manifest.fromWindow} on`,
    );
  }
  return { server, manifest, hash: manifestHash(text), layout: layoutOf(manifest), operatorKey };
}

/** With less than this left of a window, a fleet takes the next. */
const LEAST_SECONDS_LEFT = 60;

/** The window that is running, or the next if this one is about to end; and when it begins, Unix seconds. */
export function windowFor({ manifest: { ticks, tickSeconds } }: KnownTask): { number: number; from: number } {
  const seconds = ticks * tickSeconds;
  const number = Math.floor((Date.now() / 1000 + LEAST_SECONDS_LEFT) / seconds);
  const next = Math.floor(Date.now() / 1000 / seconds) + 1;
  return { number: Math.min(number, next), from: Math.min(number, next) * seconds };
}

/** Enrols a device and checks that the keys are the operator's, for this device and window. */
export async function enrol(task: KnownTask, window: number): Promise<EnrolledDevice> {
  const path = `${task.server}/v1/tasks/${task.manifest.task}/windows/${window}/devices`;
  const enrolment = parseEnrolment(await (await request(path, { method: "POST" })).text());
  for (const { role, publicKeys, signature } of enrolment.keys) {
    const binding = { manifestHash: task.hash, window, device: enrolment.device, role, publicKeys };
    await requireSignature(task.operatorKey, signature, publicKeysSigningBytes(binding), "the device's keys");
  }
  return { task, window, enrolment };
}

/** How often each metric happened in each tick. */
export type Events = (metric: string, tick: number) => number;

/** A device's whole window at once: events and a write in every tick, then the seal. */
export function reportOf({ task, enrolment }: EnrolledDevice, events: Events): Uint8Array {
  const [keys] = enrolment.keys;
  const publicKeys = decodePublicKeys(task.layout, keys?.publicKeys ?? new Uint8Array());
  const sealed = task.layout.map((part, i) => sealPart(part, task.manifest.ticks, publicKeys[i] as Uint8Array, events));
  return encodeReport(task.hash, sealed);
}

function sealPart(part: LayoutPart, ticks: number, publicKey: Uint8Array, events: Events): Uint8Array {
  const recorder = part.device.start(publicKey, random);
  let stored = new Uint8Array();
  for (let tick = 0; tick < ticks; tick++) {
    for (const [i, metric] of part.metrics.entries()) {
      for (let times = events(metric, tick); times > 0; times--) recorder.record(i);
    }
    stored = recorder.write() as Uint8Array<ArrayBuffer>;
  }
  return recorder.seal(stored);
}

/** Sends a report and says with which status it was taken; anything but 200 or 201 is an error. */
export async function upload({ task, window, enrolment }: EnrolledDevice, report: Uint8Array): Promise<number> {
  const id = encodeBase64url(enrolment.device);
  const { status } = await request(`${task.server}/v1/tasks/${task.manifest.task}/windows/${window}/reports/${id}`, {
    method: "PUT",
    headers: { "content-type": "application/octet-stream", authorization: `Bearer ${enrolment.uploadToken}` },
    body: report as Uint8Array<ArrayBuffer>,
  });
  return status;
}

/**
 * A fleet of devices that enrol over HTTP in the running window or the next, live through it in a hurry, and report once it has begun. What happened is drawn
 * at random and told, so that a release can be compared with it.
 */
export async function runFleet(
  { server, task: name, devices, rate, operatorKey }: FleetOptions,
  progress: (share: number) => void = () => {},
): Promise<FleetResult> {
  const { number: window, from } = windowFor(await fetchTask(server, name, operatorKey));
  const task = await fetchTask(server, name, operatorKey, window);
  // Devices enrol while the window has not ended; for reports there is the time of grace, too.
  const enrolled = await inParallel(devices, () => enrol(task, window));
  await sleep(Math.max(0, 1000 * from - Date.now()));
  let sent = 0;
  const counts = await inParallel(devices, async (i) => {
    const device = enrolled[i] as EnrolledDevice;
    const count = new Map<string, number>();
    const report = reportOf(device, (metric) => {
      const happens = Number(uniformBelow(random, 2 ** 32) < rate * 2 ** 32);
      count.set(metric, (count.get(metric) ?? 0) + happens);
      return happens;
    });
    await upload(device, report);
    progress(++sent / devices);
    return count;
  });
  return { task: name, window, devices, truth: truthOf(task.manifest, counts) };
}

const AT_ONCE = 8;

/** So many results, a few at a time; the first failure ends it. */
export async function inParallel<T>(
  count: number,
  make: (i: number) => Promise<T>,
  atOnce: number = AT_ONCE,
): Promise<T[]> {
  const results = new Array<T>(count);
  let next = 0;
  let failed = false;
  const worker = async (): Promise<void> => {
    while (next < count && !failed) {
      const i = next++;
      results[i] = await make(i);
    }
  };
  const workers = Array.from({ length: atOnce }, () =>
    worker().catch((error: unknown) => {
      failed = true;
      throw error;
    }),
  );
  await Promise.all(workers);
  return results;
}

function truthOf({ metrics }: Manifest, counts: readonly ReadonlyMap<string, number>[]): Truth[] {
  return metrics.flatMap((metric): Truth[] => {
    const { name } = metric;
    const events = counts.map((count) => count.get(name) ?? 0);
    const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
    if (metric.statistic === "occurrence") return [{ name, truth: sum(events.map((count) => Math.min(count, 1))) }];
    if (metric.statistic === "mean") {
      return [{ name, truth: sum(events.map((count) => Math.min(count, metric.limit))) / counts.length }];
    }
    return metric.edges.map((_, bucket) => ({
      name,
      bucket: bucketName(metric.edges, bucket),
      truth: sum(events.map((count) => Number(bucketOf(metric.edges, count) === bucket))),
    }));
  });
}

async function requireSignature(key: string, signature: Uint8Array, bytes: Uint8Array, what: string): Promise<void> {
  const { subtle } = globalThis.crypto;
  const publicKey = await subtle.importKey("raw", decodeOperatorKey(key) as Uint8Array<ArrayBuffer>, "Ed25519", false, [
    "verify",
  ]);
  const good = await subtle.verify(
    "Ed25519",
    publicKey,
    signature as Uint8Array<ArrayBuffer>,
    bytes as Uint8Array<ArrayBuffer>,
  );
  if (!good) throw new LetheError("bad-signature", `${what} is not signed by ${key}`);
}

const MOST_TRIES = 10;

/** Tries again as long as the service says that it is only busy. */
async function request(url: string, init: RequestInit = {}, tries = 1): Promise<Response> {
  const response = await fetch(url, init);
  if (response.ok) return response;
  const { code = "", detail = "" } = (await response.json()) as { code?: string; detail?: string };
  const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN);
  if (retryAfter > 0 && tries < MOST_TRIES) {
    await sleep(1000 * retryAfter);
    return request(url, init, tries + 1);
  }
  const what = `${init.method ?? "GET"} ${new URL(url).pathname}`;
  throw new LetheError(isProblemCode(code) ? code : "bad-encoding", `${what}: ${response.status} ${detail}`);
}
