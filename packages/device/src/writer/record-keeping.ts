import { decodeRecord, encodeRecord } from "../record-codec.ts";
import type { KnownTask } from "../service.ts";
import { report, unusable } from "./problems.ts";
import type { WriterState } from "./state.ts";
import { createWindow, type DeviceWindow } from "./window.ts";

/** What sizes are rounded up to. */
const BLOCK_BYTES = 4096;

/**
 * Reads what is stored. Reports what cannot be used, and begins without it. Throws only if a file of the SDK cannot be
 * loaded.
 */
export async function load(state: WriterState): Promise<void> {
  const bytes = await state.store.load().catch((error) => report(state, error));
  if (!bytes) return;
  try {
    const { last, manifests, windows } = decodeRecord(bytes, state.operatorKey);
    const tasks = await Promise.all(manifests.map(state.service.known));
    state.windows = windows.map((stored) => {
      const known = tasks[stored.manifest];
      if (known?.manifest.task !== state.task) throw new TypeError("of another task");
      return createWindow(known, stored, state.random);
    });
    [state.last, state.known, state.stored] = [last, tasks[0], bytes];
  } catch (error) {
    // A file of the SDK is missing: what is stored may be good.
    if ((error as { readonly code?: unknown }).code === "unreachable") throw error;
    report(state, unusable(error));
  }
}

/** Passes everything to the store, as one record, which it has when this resolves. A failure is reported. */
export function save(state: WriterState, durable = false, leaving = false): Promise<void> {
  const { known, windows, last } = state;
  // Each text once, the newest task's first; a task that was read twice is two objects.
  const all = [known, ...windows.map((window) => window.known)].filter((task) => task !== undefined);
  const tasks = [...new Map(all.map((task) => [task.signed, task])).values()];
  const record = {
    last,
    manifests: tasks.map(({ signed }) => signed),
    windows: windows.map((window) => window.stored(tasks.findIndex(({ signed }) => signed === window.known.signed))),
  };
  state.stored = encodeRecord(record, state.operatorKey, blockFor(tasks));
  const sealed = windows.filter(({ isSealed }) => isSealed);
  state.saved = state.store.save(state.stored, { durable, leaving }).then(
    () => {
      if (durable) for (const window of sealed) state.safe.add(window);
    },
    (error) => report(state, error),
  );
  return state.saved;
}

/**
 * Whether the store has the sealed report of a window for good; waits for the save in progress, and tries once more.
 */
export async function isSafe(state: WriterState, window: DeviceWindow): Promise<boolean> {
  if (!state.safe.has(window)) await state.saved;
  if (!state.safe.has(window) && !state.signal.aborted) await save(state, true);
  return state.safe.has(window);
}

/** Forgets a window; the next save stores that. */
export function remove(state: WriterState, window: DeviceWindow): void {
  state.windows = state.windows.filter((other) => other !== window);
}

/**
 * Room for the window that runs, the keys of the next, and a report that waits: the size does not change within a task.
 */
function blockFor(tasks: readonly KnownTask[]): number {
  let sum = BLOCK_BYTES;
  for (const { signed, layout } of tasks) {
    sum += 2 * signed.length;
    for (const { device } of layout) sum += 2 * device.bytes.publicKey + device.bytes.state + device.bytes.report;
  }
  return Math.ceil(sum / BLOCK_BYTES) * BLOCK_BYTES;
}
