import { type KeyObject, sign } from "node:crypto";
import { commitToWindowSecret, fastXof, type RistrettoGroup, secret } from "@lethe/core/encryption";
import {
  DEVICE_BYTES,
  decodeReport,
  encodePublicKeys,
  keyContextOf,
  layoutOf,
  type Manifest,
  manifestHash,
  parseManifest,
  publicKeysSigningBytes,
  type TaskLayout,
} from "@lethe/core/message";
import { planTask, type TaskPlan } from "@lethe/core/plan";
import { randomnessFrom, withBufferedRandomness } from "@lethe/core/randomness";
import { ONLY_PLACE, type Place, placeOf } from "../storage/place.ts";
import { groupsIn } from "./sealed-tally.ts";

/** What a thread needs to know of a window: its secret, and the manifest, which has the layout. */
export interface WindowKeys {
  readonly manifest: string;
  readonly window: number;
  readonly windowSecret: Uint8Array;
}

/** The same with a commitment to the secret, so that a thread notices a secret that was wiped meanwhile. */
export interface CommittedKeys extends WindowKeys {
  readonly commitment: Uint8Array;
}

/** A new device id, with its keys and their signature. */
export interface IssuedKeys {
  readonly device: Uint8Array;
  readonly publicKeys: Uint8Array;
  readonly signature: Uint8Array;
}

/** A report, as it is stored, and the place of its device's group among those of the task. */
export interface ReceivedReport {
  readonly device: Uint8Array;
  readonly body: Uint8Array;
  readonly group: number;
}

/** The answers of a batch of reports, added up: for each group one list per statistic. */
export interface BatchSums {
  readonly sums: readonly (readonly number[])[];
  /** How many reports of each group these are. */
  readonly received: readonly number[];
  /** How many reports were invalid; never published without noise. */
  readonly invalid: number;
}

const ROLE = "tally";
/** The δ of the guarantees that releases state. */
const DELTA = 1e-6;
const random = randomnessFrom(globalThis.crypto);

const layouts = new Map<string, { manifest: Manifest; hash: Uint8Array; layout: TaskLayout }>();

/** A process has one `group`. */
function contextOf(text: string, group?: RistrettoGroup): { manifest: Manifest; hash: Uint8Array; layout: TaskLayout } {
  let known = layouts.get(text);
  if (!known) {
    const manifest = parseManifest(text);
    known = { manifest, hash: manifestHash(text), layout: layoutOf(manifest, group) };
    layouts.set(text, known);
  }
  return known;
}

/** Throws if it is not the secret that the window began with. */
export function requireCommitted({ windowSecret, commitment }: CommittedKeys): void {
  const found = commitToWindowSecret(secret(windowSecret));
  if (Buffer.compare(found, commitment) !== 0) throw new TypeError("the window's secret was destroyed meanwhile");
}

/** A random id among those that belong to a place. */
function newDevice({ index, of }: Place): Uint8Array {
  const device = new Uint8Array(DEVICE_BYTES);
  do random(device);
  while (placeOf(device, of) !== index);
  return device;
}

/** Ids and signed public keys for `count` devices to come, whose ids belong to this place. */
export function issueKeys(
  { manifest: text, window, windowSecret }: WindowKeys,
  count: number,
  signingKey: KeyObject,
  place: Place = ONLY_PLACE,
  group?: RistrettoGroup,
): IssuedKeys[] {
  const { manifest, hash, layout } = contextOf(text, group);
  const master = secret(windowSecret);
  return Array.from({ length: count }, () => {
    const device = newDevice(place);
    const context = { task: manifest.task, window, device, role: ROLE } as const;
    const publicKeys = encodePublicKeys(
      layout.map((part) => part.server.issueKey(master, keyContextOf(part, context))),
    );
    const binding = { manifestHash: hash, window, device, role: ROLE, publicKeys } as const;
    const signature = new Uint8Array(sign(null, publicKeysSigningBytes(binding, fastXof), signingKey));
    return { device, publicKeys, signature };
  });
}

/**
 * Opens reports and adds up their answers. A part that fails the check of its statistic counts there as a draw on "no
 * event" ("Invalid reports" in docs/threat-model.md); a report counts as invalid if any part fails.
 */
export function openReports(
  { manifest: text, window, windowSecret }: WindowKeys,
  reports: readonly ReceivedReport[],
  group?: RistrettoGroup,
): BatchSums {
  return withBufferedRandomness(random, (buffered) => {
    const { manifest, hash, layout } = contextOf(text, group);
    const master = secret(windowSecret);
    const groups = groupsIn(manifest);
    const sums: number[][] = groups.flatMap(() => layout.map(() => []));
    const received = groups.map(() => 0);
    let invalid = 0;
    for (const { device, body, group } of reports) {
      if (received[group] === undefined) throw new RangeError("a device is in a group that its task does not have");
      received[group]++;
      const parts = decodeReport(layout, hash, body);
      let valid = true;
      for (const [i, part] of layout.entries()) {
        const context = keyContextOf(part, { task: manifest.task, window, device, role: ROLE });
        const opened = part.server.open(master, context, parts[i] as Uint8Array, buffered);
        if (!opened.valid) valid = false;
        const sum = sums[group * layout.length + i] as number[];
        // Without an iterator: of a thousand answers it would take a quarter of the time that opening takes.
        for (let j = 0; j < opened.answers.length; j++) sum[j] = (sum[j] ?? 0) + (opened.answers[j] as number);
      }
      if (!valid) invalid++;
    }
    return { sums, received, invalid };
  });
}

/**
 * The privacy cost of a release for a device, if as many reports are honest as the operator vouches for; `received`
 * only decides the errors. Takes seconds if there are many different metrics.
 */
export function priceRelease(manifest: string, received: number): TaskPlan {
  return planTask({ task: contextOf(manifest).manifest, devices: received, delta: DELTA, windows: 1 });
}
