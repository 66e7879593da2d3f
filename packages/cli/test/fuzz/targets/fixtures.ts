import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { provideEveryPart } from "@lethe/core/device/all";
import { secret } from "@lethe/core/encryption";
import {
  decodeOperatorKey,
  decodePublicKeys,
  encodeManifest,
  encodeOperatorKey,
  encodeReport,
  encodeSignedManifest,
  layoutOf,
  type Manifest,
  type Metric,
  manifestHash,
  parseManifest,
  parseTask,
  type Task,
  type TaskLayout,
} from "@lethe/core/message";
import { randomnessFrom } from "@lethe/core/randomness";
import { STATISTICS, schemesOf } from "@lethe/core/statistic";
import { type TwoServerLayout, twoServerLayoutOf } from "@lethe/core/two-server";
import { issueKeys } from "../../../../server/dist/tally/opening.js";
import { manifestOf, TASKS, TOLD } from "../../../../server/test/message-examples.ts";

provideEveryPart();

export const random = randomnessFrom(globalThis.crypto);
export const WINDOW = 5;
export const WINDOW_SECRET: Uint8Array = new Uint8Array(32).fill(7);
export const MASTER = secret(WINDOW_SECRET);

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
export const bytesOf = (text: string): Uint8Array => encoder.encode(text);
export const textOf = (bytes: Uint8Array): string => decoder.decode(bytes);
export const jsonBytes = (value: unknown): Uint8Array => bytesOf(JSON.stringify(value));

/** A key pair from a seed of 32 equal bytes; of no use but in tests. */
function operatorOf(seed: number): { readonly signingKey: KeyObject; readonly key: string } {
  const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.alloc(32, seed)]);
  const signingKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const { x = "" } = createPublicKey(signingKey).export({ format: "jwk" });
  return { signingKey, key: encodeOperatorKey(Buffer.from(x, "base64url")) };
}

export const OPERATOR = operatorOf(1);
export const HELPER = operatorOf(2);
decodeOperatorKey(OPERATOR.key);

/** A task as it runs, with everything that follows from it. */
export interface Running {
  readonly name: string;
  readonly manifest: Manifest;
  readonly text: string;
  readonly hash: Uint8Array;
  /** The envelope, JSON. */
  readonly signed: string;
}

function running(name: string, task: Task): Running {
  const resolved = parseTask(JSON.stringify(task));
  const { servers, ...rest } = manifestOf(resolved);
  const keys = [OPERATOR.key, HELPER.key];
  const named = servers.map((server, i) => ({ ...server, key: keys[i] as string }));
  const text = encodeManifest({ ...rest, fromWindow: 0, servers: named });
  const signature = new Uint8Array(sign(null, Buffer.from(text), OPERATOR.signingKey));
  const signed = encodeSignedManifest({ manifest: text, signature });
  return { name, manifest: parseManifest(text), text, hash: manifestHash(text), signed };
}

const FRAME = { version: 1, task: "fuzzed", tickSeconds: 60, ticks: 3, graceSeconds: 60, minimumDevices: 3, hides: 0 };

/** The first example of each statistic. */
const METRICS = STATISTICS.map((statistic) => TOLD.find((metric) => metric.statistic === statistic) as Metric);

/** A task with one metric, for each statistic on each scheme that it runs on. */
export const ONE_SERVER: readonly Running[] = METRICS.flatMap((metric) =>
  schemesOf(metric.statistic).map((scheme) => {
    const isLimited = scheme === "lattice" && metric.statistic !== "occurrence";
    const metrics = [{ ...metric, ...(isLimited && { eventsPerTick: 1 }) } as Metric];
    return running(`${metric.statistic} on ${scheme}`, { ...FRAME, mode: "one-server", scheme, metrics });
  }),
);

export interface Shared extends Running {
  readonly layout: TwoServerLayout;
}

/** A task of two servers with all statistics that they can count. */
export const TWO_SERVERS: Shared = ((): Shared => {
  const { metrics } = TASKS["of two servers"] as Task;
  const task = running("two servers", { ...FRAME, hides: 1, mode: "two-server", metrics });
  return { ...task, layout: twoServerLayoutOf(task.manifest) };
})();

/** A device that was enrolled in the window: its keys, what it stores at the end, and its report. */
export interface Enrolled {
  readonly device: Uint8Array;
  readonly publicKeys: Uint8Array;
  readonly signature: Uint8Array;
  readonly keys: readonly Uint8Array[];
  readonly states: readonly Uint8Array[];
  readonly report: Uint8Array;
}

/** A device that recorded each event once. */
export function enrolled({ text, hash, manifest }: Running, layout: TaskLayout = layoutOf(manifest)): Enrolled {
  const [issued] = issueKeys({ manifest: text, window: WINDOW, windowSecret: WINDOW_SECRET }, 1, OPERATOR.signingKey);
  if (!issued) throw new TypeError("no keys were issued");
  const keys = decodePublicKeys(layout, issued.publicKeys);
  const recorded = layout.map(({ device }, i) => {
    const recorder = device.start(keys[i] as Uint8Array, random);
    for (const event of device.events.keys()) recorder.record(event);
    const state = recorder.write() as Uint8Array;
    return { state, sealed: recorder.seal(state) };
  });
  return {
    ...issued,
    keys,
    states: recorded.map(({ state }) => state),
    report: encodeReport(
      hash,
      recorded.map(({ sealed }) => sealed),
    ),
  };
}
