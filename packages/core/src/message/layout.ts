import type { DeviceKeyContext, RistrettoGroup } from "../encryption/index.ts";
import { type Statistic, statisticFor } from "../statistic/create.ts";
import type { DeviceSide } from "../statistic/statistic.ts";
import { statisticsOf, type Task, type TaskStatistic } from "./task.ts";

/** A statistic of a task with its place in the messages: parts follow one another in this order. */
export interface LayoutPart extends TaskStatistic, Statistic {
  /** The index of its first ciphertext in key derivation. */
  readonly firstKey: number;
}

/** Everything that device and server derive from a task: the same bytes at the same places. */
export type TaskLayout = readonly LayoutPart[];

/** What the sizes of messages follow from, on either side. */
export type DeviceSides = readonly { readonly device: DeviceSide }[];

/** More than a statistic has ciphertexts, so that no two share a key. */
const KEYS_PER_STATISTIC = 2 ** 16;

/**
 * Choosing lattice parameters takes tens of milliseconds a statistic, unless `parseTask` has just done so: keep the
 * layout. Servers pass the `group` on which they open what is on ElGamal.
 */
export function layoutOf(task: Task, group?: RistrettoGroup): TaskLayout {
  return statisticsOf(task).map(({ scheme, spec, metrics }, i) => {
    return { scheme, spec, metrics, ...statisticFor(scheme, spec, group), firstKey: i * KEYS_PER_STATISTIC };
  });
}

/** What the keys of one part are bound to. */
export function keyContextOf(
  part: LayoutPart,
  { task, window, device, role }: Omit<DeviceKeyContext, "index">,
): DeviceKeyContext {
  return { task, window, device, role, index: part.firstKey };
}
