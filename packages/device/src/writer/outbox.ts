import { isFinal, LetheError, type LetheErrorCode, windowSeconds } from "@lethe/core/device";
import { budgetPart } from "../budget/load.ts";
import { report } from "./problems.ts";
import { isSafe, remove, save } from "./record-keeping.ts";
import { tryIfDue } from "./retry.ts";
import type { WriterState } from "./state.ts";
import type { DeviceWindow } from "./window.ts";

/** Reports that wait to be sent; if there are more, the oldest is dropped. */
const MOST_PENDING = 4;
/**
 * Devices spread their reports over this share of the grace time or of a window, whichever is shorter: enough that the
 * busiest time has less than twice the mean, and early enough that devices that are off by then report in time.
 * docs/lab/arrivals.md compares it with others.
 */
const SPREAD = 0.6;

/**
 * Plans to send a sealed report, at a random moment after the end of its window. Restarts do not change it, and a device
 * that is off then sends when it is on again. Drops and reports the oldest, if too many wait.
 */
export function addReport(state: WriterState, window: DeviceWindow): void {
  const { uploads } = state;
  const { manifest } = window.known;
  const spread = 1000 * SPREAD * Math.min(manifest.graceSeconds, windowSeconds(manifest));
  // The id is random, and new in every window. Reports come in the order of their ids, as a database stores them best.
  const [high = 0, low = 0] = window.stored(0).device;
  uploads.set(window, { at: window.ends + (spread * (256 * high + low)) / 65_536, failures: 0 });
  for (const oldest of uploads.keys()) {
    if (uploads.size > MOST_PENDING) forget(state, oldest, "window-closed", "never taken");
  }
}

/** Sends what is due, one report after another. What fails is tried again later, with the same bytes. */
export async function sendDue(state: WriterState): Promise<void> {
  for (const [window, attempt] of state.uploads) await tryIfDue(state, attempt, () => send(state, window));
}

/** Only when the store has the report for good: it could otherwise be sealed again, with other bytes. */
async function send(state: WriterState, window: DeviceWindow): Promise<void> {
  if (!(await isSafe(state, window))) throw new LetheError("bad-store", "the report cannot be stored");
  const { device, token, report: sealed } = window.stored(0);
  try {
    if (state.budget ?? window.known.manifest.budget) await (await budgetPart.load())(state, window);
    const body = await window.known.bodyOf(sealed, window.number, device);
    await state.service.upload(window.number, device, token, body);
  } catch (error) {
    if (!(error instanceof LetheError && isFinal(error.code))) throw error;
    forget(state, window, error.code, `dropped: ${error.message}`);
  }
  if (state.signal.aborted) return;
  state.reported.clear();
  forget(state, window);
  await save(state);
}

function forget(state: WriterState, window: DeviceWindow, code?: LetheErrorCode, why?: string): void {
  remove(state, window);
  state.uploads.delete(window);
  if (code) report(state, new LetheError(code, `the report of window ${window.number} was ${why}`));
}
