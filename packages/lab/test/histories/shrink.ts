import type { History } from "./history.ts";

/** Whether a history still fails in the same way. */
type Fails = (history: History) => Promise<boolean>;

/**
 * A smaller history that fails in the same way: faults, devices, acts and windows are left out, one after another, for
 * as long as that works.
 */
export async function shrink(history: History, fails: Fails): Promise<History> {
  let smallest = history;
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false;
    for (const candidate of smaller(smallest)) {
      if (!(await fails(candidate))) continue;
      smallest = candidate;
      isSmaller = true;
      break;
    }
  }
  return smallest;
}

function* smaller(history: History): Generator<History> {
  const { faults, devices, windows } = history;
  if (windows > 1) yield { ...history, windows: windows - 1 };
  for (const kept of without(devices)) yield { ...history, devices: kept };
  for (const kept of without(faults)) yield { ...history, faults: kept };
  for (const [i, device] of devices.entries()) {
    for (const acts of without(device.acts)) yield { ...history, devices: devices.with(i, { ...device, acts }) };
  }
}

/** The list without its first half, without its second, and without each of its entries. */
function* without<T>(list: readonly T[]): Generator<readonly T[]> {
  const half = Math.ceil(list.length / 2);
  if (list.length > 2) {
    yield list.slice(half);
    yield list.slice(0, half);
  }
  for (const i of list.keys()) yield list.toSpliced(i, 1);
}
