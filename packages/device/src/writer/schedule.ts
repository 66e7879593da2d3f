import { LetheError, nextTick, tickAt } from "@lethe/core/device";
import { addReport } from "./outbox.ts";
import { report, unusable } from "./problems.ts";
import { remove, save } from "./record-keeping.ts";
import type { WriterState } from "./state.ts";
import type { DeviceWindow } from "./window.ts";

/**
 * When a session writes besides ticks, counted from when it began to count: a session that is killed loses seconds, not
 * a tick.
 */
const SESSION_WRITES_MS = [1000, 5000, 20_000];

/** The window that takes events. */
export function countingWindow({ windows }: WriterState): DeviceWindow | undefined {
  return windows.find(({ isCounting }) => isCounting);
}

/**
 * Does everything that time alone causes by now: windows begin and end, ticks end, a session writes. No event changes
 * it.
 */
export function pass(state: WriterState, now: number, leaving = false): void {
  let changed = false;
  let durable = false;
  const isMoment = state.moments?.some((moment) => moment <= now);
  state.moments = state.moments?.filter((moment) => moment > now);
  for (const window of unsealed(state)) {
    if (now >= window.ends) {
      if (guarded(state, window, () => window.seal())) addReport(state, window);
      durable = true;
    } else if (window.isCounting) {
      const tick = tickOf(window, now);
      const endsTick = tick !== window.tick;
      // Half of the hides are for pages that close.
      const isDue = endsTick || (isMoment && 2 * window.hidesLeft > hidesOf(window));
      if (isDue) changed = write(state, window, endsTick, tick) || changed;
    } else if (now >= window.begins) begin(state, window, now);
  }
  if (durable || changed) void save(state, durable, leaving);
}

/** `pass`, and a write that ends no tick, if one is left. With `leaving`, the page may be gone in a moment. */
export function hide(state: WriterState, leaving: boolean): void {
  const window = countingWindow(state);
  const now = state.clock();
  pass(state, now, leaving);
  if (window?.isCounting && write(state, window, false, tickOf(window, now))) void save(state, false, leaving);
}

/** When something is due next. */
export function nextTime(state: WriterState, now: number): number {
  const window = countingWindow(state);
  const times = unsealed(state).map(({ begins }) => begins);
  if (window) times.push(1000 * nextTick(window.known.manifest, now / 1000), window.ends, ...(state.moments ?? []));
  return Math.min(...times.filter((time) => time > now));
}

function begin(state: WriterState, window: DeviceWindow, now: number): void {
  const hasBegun = guarded(state, window, () => window.begin(tickOf(window, now)));
  state.moments ??= SESSION_WRITES_MS.map((after) => now + after);
  if (hasBegun) {
    const counting = { window: window.number, until: window.ends };
    state.onCounting(counting);
    state.store.tabs?.announce(counting);
  }
  reportHides(state, window, true);
}

function write(state: WriterState, window: DeviceWindow, endsTick: boolean, tick: number): boolean {
  const isWritten = window.write(endsTick, tick);
  if (isWritten) state.segment.clear();
  reportHides(state, window, isWritten);
  return isWritten;
}

/** What is stored may not fit its own keys: then the window is lost, not the program. */
function guarded(state: WriterState, window: DeviceWindow, use: () => void): boolean {
  state.segment.clear();
  try {
    use();
    return true;
  } catch (error) {
    remove(state, window);
    report(state, unusable(error));
    return false;
  }
}

const unsealed = ({ windows }: WriterState): DeviceWindow[] => windows.filter(({ isSealed }) => !isSealed);

/** The tick that is running under the task of a window. */
export const tickOf = ({ known }: DeviceWindow, now: number): number => tickAt(known.manifest, now / 1000);

/** Sessions make no writes in windows from before there were hides: there a write would take the room of a tick. */
const hidesOf = ({ known: { manifest } }: DeviceWindow): number => manifest.hides ?? Number.POSITIVE_INFINITY;

/** As soon as they have run out, event or not; if there were none from the start, when one is missing. */
function reportHides(state: WriterState, window: DeviceWindow, isWritten: boolean): void {
  if (!window.isCounting || window.hidesLeft > 0 || (isWritten && hidesOf(window) === 0)) return;
  const message = `window ${window.number} has no write left for a page that closes: raise the task's hides`;
  report(state, new LetheError("events-dropped", message));
}
