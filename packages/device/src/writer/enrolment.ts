import { beginningOf, windowAt, windowSeconds } from "@lethe/core/device";
import { save } from "./record-keeping.ts";
import { below } from "./retry.ts";
import { pass } from "./schedule.ts";
import type { WriterState } from "./state.ts";
import { createWindow } from "./window.ts";

/**
 * Enrols in the window that runs, if the device is not enrolled there yet; else in the next. In each window at most
 * once: it gets an id and public keys for that window, which the store has when this resolves. Plans the next
 * enrolment.
 */
export async function enrol(state: WriterState): Promise<void> {
  const { service, enrolment, clock, random } = state;
  state.known ??= await service.manifest(undefined);
  const { manifest } = state.known;
  const running = windowAt(manifest, clock() / 1000);
  const window = Math.max(running, state.last + 1);
  if (window > running + 1) {
    // Enrolled in the next one already, or the clock went back: not before the last one begins.
    enrolment.at = 1000 * beginningOf(manifest, state.last);
    return;
  }
  const known = await service.manifest(window);
  const { device, uploadToken, publicKeys } = await service.enrol(known, window);
  if (state.signal.aborted) return;
  const nothing = { state: new Uint8Array(), report: new Uint8Array(), tick: -1 };
  const enrolled = createWindow(known, { window, device, token: uploadToken, publicKeys, ...nothing }, random);
  state.windows = [...state.windows, enrolled];
  [state.known, state.last] = [known, window];
  const left = enrolled.ends - clock();
  const length = 1000 * windowSeconds(known.manifest);
  // For the next one sometime in the first half of what is left; if this is the next already, when it has begun.
  enrolment.failures = 0;
  enrolment.at = clock() + Math.max(0, left - length) + below(random, Math.min(left, length) / 2);
  state.reported.clear();
  pass(state, clock());
  await save(state);
}
