import { join } from "../src/bytes.ts";
import { BASE, IDENTITY, ORDER, type RistrettoPoint, randomScalar } from "../src/encryption/elgamal/ristretto.ts";
import { type ServerRole, sharingContext, type TaskWindow } from "../src/sharing/shared-bit.ts";
import {
  type OpenedSlot,
  SHARED_SLOT_BYTES,
  type SlotKeys,
  sharedSlots,
  splitSharedSlots,
} from "../src/sharing/shared-slot.ts";
import type { Recorder } from "../src/statistic/recorder.ts";
import type { TwoServerStatistic } from "../src/statistic/two-server.ts";
import { openSlots } from "../src/two-server/aggregator.ts";
import { issueKeys, MASTERS, random, WINDOW, type WrappedReport, wrap } from "./two-server.ts";

export { SHARED_SLOT_BYTES };

export const keysOf = (device: Uint8Array, at: TaskWindow = WINDOW): SlotKeys =>
  sharedSlots.decodePublicKey(issueKeys(device, at));

/** What one server opens of slots, stored or sent, with its keys for a device. */
export function openedBy(
  role: ServerRole,
  device: Uint8Array,
  slots: Uint8Array,
  at: TaskWindow = WINDOW,
): OpenedSlot[] {
  return openSlots(role, MASTERS[role], at, device, splitSharedSlots(slots)[role]);
}

/** A state that a recorder has written begins with a header of ten bytes; with periods come four more. */
const HEADER_BYTES = 10;

/** The slots of a state that was written. */
export const slotsOf = (state: Uint8Array): Uint8Array => state.subarray(HEADER_BYTES);

/** Sealed by an honest device that ran a statistic. */
export function sealedBy(
  statistic: TwoServerStatistic,
  device: Uint8Array,
  use: (recorder: Recorder) => void,
  at: TaskWindow = WINDOW,
): Uint8Array {
  const recorder = statistic.device(sharingContext(at)).start(issueKeys(device, at), random);
  use(recorder);
  return recorder.seal(recorder.write() as Uint8Array);
}

export function wrapSlots(
  device: Uint8Array,
  slots: Uint8Array,
  options: { at?: TaskWindow; report?: Uint8Array } = {},
): Promise<WrappedReport> {
  return wrap(device, slots, { ...options, split: splitSharedSlots });
}

/** m·G for any integer. */
export function multiple(m: bigint): RistrettoPoint {
  const scalar = ((m % ORDER) + ORDER) % ORDER;
  return scalar === 0n ? IDENTITY : BASE.multiply(scalar);
}

/** Makes slots without a device, as someone can who has a device's public keys. */
export interface SlotForger {
  /** A slot that holds any element for each server. */
  elements(leader: RistrettoPoint, helper: RistrettoPoint): Uint8Array;
  /** Slots of these values, properly shared. */
  values(...values: readonly bigint[]): Uint8Array;
}

export function createSlotForger(device: Uint8Array, at: TaskWindow = WINDOW): SlotForger {
  const { leader: a, helper: b } = keysOf(device, at);
  const elements: SlotForger["elements"] = (leader, helper) => {
    const half = (key: RistrettoPoint, element: RistrettoPoint): RistrettoPoint[] => {
      const r = randomScalar(random);
      return [BASE.multiply(r), element.add(key.multiply(r))];
    };
    return join([...half(a.point, leader), ...half(b.point, helper)].map((point) => point.toBytes()));
  };
  return {
    elements,
    values: (...values) =>
      join(
        values.map((value) => {
          const w = BASE.multiply(randomScalar(random));
          return elements(w, multiple(value).subtract(w));
        }),
      ),
  };
}
