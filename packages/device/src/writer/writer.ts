/**
 * What runs in the one tab or process that writes. `openWriter` wakes the parts, which share the state of state.ts:
 * schedule.ts does what is due by the clock, window.ts counts in one window, record-keeping.ts loads and saves,
 * outbox.ts sends sealed reports, enrolment.ts gets keys, retry.ts waits after failures, and problems.ts reports what
 * goes wrong. The folder imports the service, the record's codec and the store's interface. Start reading here, then
 * schedule.ts.
 */
import type { Recorder } from "@lethe/core/device";
import { createService } from "../service.ts";
import { enrol } from "./enrolment.ts";
import { addReport, sendDue } from "./outbox.ts";
import { report, reportEvent } from "./problems.ts";
import { load } from "./record-keeping.ts";
import { tryIfDue } from "./retry.ts";
import { countingWindow, hide, nextTime, pass, tickOf } from "./schedule.ts";
import type { WriterOptions, WriterState } from "./state.ts";

/** The one that counts, writes and sends for a task on this device. */
export interface Writer {
  /** Folds events into the ciphertexts in memory; what is dropped is reported at most once per segment. */
  record(name: string, times: number): void;
  /** A write now, in progress when this returns: the page may be gone in a moment. */
  hide(): void;
  /** Seals what is over and sends what is sealed, without waiting for its time; resolves when everything was tried. */
  sendPending(): Promise<void>;
  inspect(): Inspection;
  /** After the signal was aborted: writes a last time, if it may; resolves when nothing is in progress. */
  close(isLastWrite: boolean): Promise<void>;
}

/** Exactly what somebody who opens the device now would see. */
export interface Inspection {
  /** What the store got last. */
  readonly stored: Uint8Array | undefined;
  /**
   * The ciphertexts in memory, one entry for each statistic of the task; how many events came since the last write,
   * where that is limited; and what is left: events until the next write, writes of the window, and how many of those
   * need not be kept for ticks.
   */
  readonly memory: readonly ReturnType<Recorder["inspect"]>[];
}

/** Clocks jump: never sleep longer than this without looking at the clock. */
const MOST_SLEEP_MS = 30_000;

/** Loads what is stored, and begins to count, write and send. Throws only if a file of the SDK cannot be loaded. */
export async function openWriter(options: WriterOptions): Promise<Writer> {
  const { clock, signal } = options;
  const state: WriterState = {
    ...options,
    service: createService(options),
    windows: [],
    last: -1,
    known: undefined,
    stored: undefined,
    saved: undefined,
    safe: new WeakSet(),
    uploads: new Map(),
    enrolment: { at: 0, failures: 0 },
    moments: undefined,
    reported: new Set(),
    segment: new Set(),
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  let talking: Promise<void> | undefined;

  /** One request at a time, while events go on. */
  function talk(): Promise<void> {
    talking ??= sendDue(state)
      .then(() => tryIfDue(state, state.enrolment, () => enrol(state)))
      .finally(() => {
        talking = undefined;
      });
    return talking;
  }

  function wake(): void {
    if (signal.aborted) return;
    pass(state, clock());
    void talk().then(sleep, (error) => report(state, error));
    sleep();
  }

  function sleep(): void {
    clearTimeout(timer);
    if (signal.aborted) return;
    const now = clock();
    const talks = talking ? [] : [state.enrolment, ...state.uploads.values()].map(({ at }) => at);
    timer = setTimeout(wake, Math.min(Math.max(Math.min(...talks, nextTime(state, now)) - now, 1), MOST_SLEEP_MS));
    // A program that has nothing else to do may end.
    (timer as { unref?: () => void }).unref?.();
  }

  await load(state);
  for (const window of state.windows.filter(({ isSealed }) => isSealed)) {
    state.safe.add(window);
    addReport(state, window);
  }
  wake();
  return {
    record: (name, times) => recordEvent(state, name, times),
    hide: () => hide(state, true),
    async sendPending() {
      pass(state, clock());
      await talking;
      for (const attempt of state.uploads.values()) attempt.at = 0;
      await talk();
      sleep();
    },
    inspect: () => ({ stored: state.stored?.slice(), memory: countingWindow(state)?.inspect() ?? [] }),
    async close(isLastWrite) {
      clearTimeout(timer);
      if (isLastWrite) hide(state, false);
      await talking;
      await state.saved;
    },
  };
}

function recordEvent(state: WriterState, name: string, times: number): void {
  const window = countingWindow(state);
  const known = window?.known ?? state.known;
  // Larger numbers are not exact, and a map of states is applied exactly so many times.
  if (!Number.isSafeInteger(times) || times < 0) {
    reportEvent(state, "bad-encoding", `times must be a non-negative integer, got ${times}`);
  } else if (known && !known.layout.some(({ device }) => device.events.includes(name))) {
    reportEvent(state, "unknown-metric", `there is no metric ${JSON.stringify(name)} in ${state.task}`);
  } else if (!window && state.moments) {
    reportEvent(state, "events-dropped", "no window counts: events are dropped until the service is reached");
  } else if (window && !window.record(name, times, tickOf(window, state.clock()))) {
    reportEvent(state, "events-dropped", `no room for more events of ${name} until the next write`);
  }
}
