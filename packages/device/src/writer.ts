import {
  isFinal,
  LetheError,
  type LetheErrorCode,
  type Randomness,
  type Recorder,
  uniformBelow,
} from "@lethe/core/device";
import { decodeRecord, encodeRecord } from "./record.ts";
import type { KnownTask, Refusal, Service } from "./service.ts";
import type { Store } from "./store/store.ts";
import { createWindow, type DeviceWindow } from "./window.ts";

export interface WriterOptions {
  readonly store: Store;
  readonly service: Service;
  readonly task: string;
  readonly operatorKey: string;
  /** Unix time in milliseconds. */
  readonly clock: () => number;
  readonly random: Randomness;
  readonly onProblem: (error: LetheError) => void;
  /** What an event brings about: for the application's eyes only, since a log of it would be a log of events. */
  readonly onDropped: (error: LetheError) => void;
  /** Events count from now on. */
  readonly onCounting: (counting: Counting) => void;
  /** Once it is aborted nothing is asked and nothing is written, but for the last write of `close`. */
  readonly signal: AbortSignal;
}

/** The one that counts, writes and sends for a task on this device. */
export interface Writer {
  record(name: string, times: number): void;
  /** A write now, under way when this returns: the page may be gone in a moment. */
  hide(): void;
  /** Seals what is over and sends what is sealed, without waiting for its time; resolves when everything was tried. */
  sendPending(): Promise<void>;
  inspect(): Inspection;
  /** After the signal was aborted: writes a last time, if it may; resolves when nothing is in progress. */
  close(isLastWrite: boolean): Promise<void>;
}

/** Exactly what somebody who opens the device now would see. */
export interface Inspection {
  /** What was last handed to the store. */
  readonly stored: Uint8Array | undefined;
  /**
   * The ciphertexts in memory, one entry for each statistic of the task; how many events came since the last write, where that is limited; and
   * what is left: events until the next write, writes of the window, and those of them that need not be kept for ticks.
   */
  readonly memory: readonly ReturnType<Recorder["inspect"]>[];
}

/** The window that events are counted in, and when it ends, as Unix time in milliseconds. */
export interface Counting {
  readonly window: number;
  readonly until: number;
}

/** Reports that wait to be sent; the oldest goes if there are more. */
const MOST_PENDING = 4;
const MOST_WAIT_MS = 3_600_000;
/** Clocks jump: never sleep longer than this without looking at it. */
const MOST_SLEEP_MS = 30_000;
const FIRST_RETRY_MS = 1000;
/** When a session writes, counted from when it began to count: one that is killed loses seconds, not a tick. */
const SESSION_WRITES_MS = [1000, 5000, 20_000];
/** What sizes are rounded up to. */
const BLOCK_BYTES = 4096;

/** When something is tried, and how often it has failed. */
interface Attempt {
  at: number;
  failures: number;
}

export async function openWriter(options: WriterOptions): Promise<Writer> {
  const { store, service, clock, random, operatorKey, signal } = options;
  const told = new Set<string>();
  /** What events brought about since the last write. */
  const toldOfEvents = new Set<LetheErrorCode>();
  /** When this session still writes besides ticks; unset until it counts. */
  let moments: number[] | undefined;
  let windows: DeviceWindow[] = [];
  let last = -1;
  /** The newest that is known of the task. */
  let known: KnownTask | undefined;
  let stored: Uint8Array | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let sending: Promise<void> | undefined;
  let saved: Promise<void> | undefined;
  const enrolment: Attempt = { at: 0, failures: 0 };
  const uploads = new Map<DeviceWindow, Attempt>();
  /** Reports that the store has for good. */
  const safe = new WeakSet<DeviceWindow>();

  /** Each problem once, until what failed has worked again. */
  function tell(error: unknown): void {
    const problem = error instanceof LetheError ? error : unusable(error);
    if (told.has(problem.message)) return;
    told.add(problem.message);
    options.onProblem(problem);
  }

  /** At most once of a kind between two writes, so that what is told is no list of events. */
  function tellOfEvent(code: LetheErrorCode, message: string): void {
    if (toldOfEvents.has(code)) return;
    toldOfEvents.add(code);
    options.onDropped(new LetheError(code, message));
  }

  const below = (milliseconds: number): number => uniformBelow(random, Math.max(1, Math.floor(milliseconds)));

  const lengthOf = ({ manifest: { ticks, tickSeconds } }: KnownTask): number => 1000 * ticks * tickSeconds;
  const windowAt = (task: KnownTask, now: number): number => Math.floor(now / lengthOf(task));
  const endOf = ({ number, known: task }: DeviceWindow): number => (number + 1) * lengthOf(task);
  const tickAt = ({ known: task }: DeviceWindow, now: number): number =>
    Math.floor(now / 1000 / task.manifest.tickSeconds);
  /** Sessions make no writes in windows from before there were hides: there a write would take the room of a tick. */
  const hidesOf = ({ known: { manifest } }: DeviceWindow): number => manifest.hides ?? Number.POSITIVE_INFINITY;
  const counting = (): DeviceWindow | undefined => windows.find(({ isCounting }) => isCounting);

  async function load(): Promise<void> {
    const bytes = await store.load().catch(tell);
    if (!bytes) return;
    try {
      const record = decodeRecord(bytes, operatorKey);
      const tasks = await Promise.all(record.manifests.map(service.known));
      windows = record.windows.map((kept) => {
        const task = tasks[kept.manifest];
        if (task?.manifest.task !== options.task) throw new TypeError("of another task");
        return createWindow(task, kept, random);
      });
      last = record.last;
      known = tasks[0];
      stored = bytes;
    } catch (error) {
      // Of the SDK a file is missing, not of what was kept.
      if ((error as LetheError).code === "unreachable") throw error;
      windows = [];
      tell(unusable(error));
    }
    for (const window of windows) {
      if (!window.report) continue;
      safe.add(window);
      keepForSending(window);
    }
  }

  /** Hands everything to the store; what was sealed is safe when it is there for good. */
  function save(how: { readonly durable?: boolean; readonly leaving?: boolean } = {}): Promise<void> {
    const { durable = false } = how;
    const tasks = [...new Set([...(known ? [known] : []), ...windows.map(({ known: task }) => task)])];
    const record = {
      last,
      manifests: tasks.map(({ signed }) => signed),
      windows: windows.map((window) => window.stored(tasks.indexOf(window.known))),
    };
    stored = encodeRecord(record, operatorKey, blockFor(tasks));
    const sealed = windows.filter(({ report }) => report);
    saved = store.save(stored, { durable, ...how }).then(() => {
      if (durable) for (const window of sealed) safe.add(window);
    }, tell);
    return saved;
  }

  /** Everything that time alone brings: a window begins, a tick ends, a window ends. */
  function live(now: number, leaving = false): void {
    let changed = false;
    let sealed = false;
    const isMoment = moments?.some((moment) => moment <= now);
    moments = moments?.filter((moment) => moment > now);
    for (const window of windows.filter(({ report }) => !report)) {
      if (now >= endOf(window)) {
        guarded(window, () => window.seal());
        toldOfEvents.clear();
        keepForSending(window);
        sealed = true;
      } else if (window.isCounting) {
        const tick = tickAt(window, now);
        if (tick !== window.tick) changed = write(window, true, tick) || changed;
        // The other half is for pages that close.
        else if (isMoment && 2 * window.hidesLeft > hidesOf(window)) changed = write(window, false, tick) || changed;
      } else if (now >= endOf(window) - lengthOf(window.known)) {
        guarded(window, () => window.begin(tickAt(window, now)));
        moments ??= SESSION_WRITES_MS.map((after) => now + after);
        toldOfEvents.clear();
        if (window.isCounting) options.onCounting({ window: window.number, until: endOf(window) });
        tellOfHides(window);
      }
    }
    for (const oldest of uploads.keys()) {
      if (uploads.size > MOST_PENDING) forget(oldest, "window-closed", "never taken");
    }
    if (sealed || changed) void save({ durable: sealed, leaving });
  }

  function write(window: DeviceWindow, endsTick: boolean, tick: number): boolean {
    const isWritten = window.write(endsTick, tick);
    if (isWritten) toldOfEvents.clear();
    tellOfHides(window, isWritten);
    return isWritten;
  }

  /** As soon as they have run out, whatever happened; if there were none from the start, when one is missing. */
  function tellOfHides(window: DeviceWindow, isWritten = true): void {
    if (!window.isCounting || window.hidesLeft > 0 || (isWritten && hidesOf(window) === 0)) return;
    tell(
      new LetheError(
        "events-dropped",
        `window ${window.number} has no write left for a page that closes: its events since the last tick are lost. The task's hides say how many there are`,
      ),
    );
  }

  /** What was kept may not fit its own keys: then the window is lost, not the program. */
  function guarded(window: DeviceWindow, use: () => void): void {
    try {
      use();
    } catch (error) {
      windows = windows.filter((other) => other !== window);
      tell(unusable(error));
    }
  }

  function keepForSending(window: DeviceWindow): void {
    if (!windows.includes(window)) return;
    const { graceSeconds } = window.known.manifest;
    const spread = Math.min(500 * graceSeconds, lengthOf(window.known) / 2, MOST_WAIT_MS);
    uploads.set(window, { at: clock() + below(spread), failures: 0 });
  }

  function forget(window: DeviceWindow, code?: LetheErrorCode, why?: string): void {
    windows = windows.filter((other) => other !== window);
    uploads.delete(window);
    if (code) tell(new LetheError(code, `the report of window ${window.number} was ${why}`));
  }

  function retryLater(attempt: Attempt, error: unknown): void {
    if (signal.aborted) return;
    const wait = Math.min(FIRST_RETRY_MS * 2 ** attempt.failures++, MOST_WAIT_MS);
    const { retryAfter = 0 } = error as Partial<Refusal>;
    attempt.at = clock() + Math.max(1000 * retryAfter, wait / 2) + below(wait);
    tell(error);
  }

  /** One at a time, while events go on. */
  function talk(): Promise<void> {
    sending ??= (async () => {
      for (const [window, attempt] of uploads)
        if (!signal.aborted && attempt.at <= clock()) await send(window, attempt);
      if (!signal.aborted && enrolment.at <= clock()) await enrol();
    })().finally(() => {
      sending = undefined;
    });
    return sending;
  }

  async function send(window: DeviceWindow, attempt: Attempt): Promise<void> {
    // Never a byte of a report that could still be made anew. As a rule the save that it was sealed with is under way.
    if (!safe.has(window)) await saved;
    if (!safe.has(window) && !signal.aborted) await save({ durable: true });
    if (!safe.has(window)) return retryLater(attempt, new LetheError("bad-store", "the report cannot be stored"));
    const { device, token, report } = window.stored(0);
    try {
      const body = await window.known.bodyOf(report, window.number, device);
      await service.upload(window.number, device, token, body);
    } catch (error) {
      if (!(error instanceof LetheError && isFinal(error.code))) return retryLater(attempt, error);
      forget(window, error.code, `not taken: ${error.message}`);
    }
    if (signal.aborted) return;
    told.clear();
    forget(window);
    await save();
  }

  /** In the window that runs, if it is not enrolled there yet; else in the next. */
  async function enrol(): Promise<void> {
    try {
      known ??= await service.manifest(undefined);
      const window = Math.max(windowAt(known, clock()), last + 1);
      if (window > windowAt(known, clock()) + 1) {
        // The clock went back: until it has caught up, there is nothing to enrol in.
        enrolment.at = clock() + MOST_SLEEP_MS;
        return;
      }
      const task = await service.manifest(window);
      const { device, uploadToken, publicKeys } = await service.enrol(task, window);
      if (signal.aborted) return;
      const nothing = { state: new Uint8Array(), report: new Uint8Array(), tick: -1 };
      windows = [
        ...windows,
        createWindow(task, { window, device, token: uploadToken, publicKeys, ...nothing }, random),
      ];
      [known, last] = [task, window];
      const left = (window + 1) * lengthOf(task) - clock();
      // For the next one sometime in the first half of what is left; if this is the next already, when it has begun.
      enrolment.failures = 0;
      enrolment.at = clock() + Math.max(0, left - lengthOf(task)) + below(Math.min(left, lengthOf(task)) / 2);
      told.clear();
      live(clock());
      await save();
    } catch (error) {
      retryLater(enrolment, error);
    }
  }

  function nextTime(now: number): number {
    const window = counting();
    const times = windows.filter(({ report }) => !report).map((waiting) => endOf(waiting) - lengthOf(waiting.known));
    if (window) {
      times.push(
        (tickAt(window, now) + 1) * 1000 * window.known.manifest.tickSeconds,
        endOf(window),
        ...(moments ?? []),
      );
    }
    const talks = sending ? [] : [enrolment, ...uploads.values()].map(({ at }) => at);
    return Math.min(...talks, ...times.filter((time) => time > now));
  }

  function wake(): void {
    if (signal.aborted) return;
    live(clock());
    void talk().then(sleep, tell);
    sleep();
  }

  function sleep(): void {
    clearTimeout(timer);
    if (signal.aborted) return;
    const now = clock();
    timer = setTimeout(wake, Math.min(Math.max(nextTime(now) - now, 1), MOST_SLEEP_MS));
    // A program that has nothing else to do may end.
    (timer as { unref?: () => void }).unref?.();
  }

  function hide(leaving: boolean): void {
    const window = counting();
    const now = clock();
    live(now, leaving);
    if (window?.isCounting && write(window, false, tickAt(window, now))) void save({ leaving });
  }

  await load();
  enrolment.at = clock();
  const newest = windows.at(-1);
  if (newest && last > windowAt(newest.known, clock())) enrolment.at = endOf(newest) - lengthOf(newest.known);
  wake();

  return {
    record: (name, times) => {
      const window = counting();
      const task = window?.known ?? known;
      if (task && !task.layout.some(({ metrics }) => metrics.includes(name))) {
        tellOfEvent("unknown-metric", `there is no metric ${JSON.stringify(name)} in ${options.task}`);
      } else if (!window && moments) {
        tellOfEvent(
          "events-dropped",
          "no window counts at the moment: events are dropped until the service has been reached",
        );
      } else if (window && !window.record(name, times)) {
        tellOfEvent("events-dropped", `there is no room for more events of ${name} until the next write`);
      }
    },
    hide: () => hide(true),
    sendPending: async () => {
      live(clock());
      await sending;
      for (const attempt of uploads.values()) attempt.at = 0;
      await talk();
      sleep();
    },
    inspect: () => ({ stored: stored?.slice(), memory: counting()?.inspect() ?? [] }),
    close: async (isLastWrite) => {
      clearTimeout(timer);
      if (isLastWrite) hide(false);
      await sending;
      await saved;
    },
  };
}

function unusable(error: unknown): LetheError {
  return new LetheError("bad-state", "what was kept on this device cannot be used: counting begins anew", {
    cause: error,
  });
}

/** Room for the window that runs, the keys of the next, and a report that waits. */
function blockFor(tasks: readonly KnownTask[]): number {
  let sum = BLOCK_BYTES;
  for (const { signed, layout } of tasks) {
    sum += 2 * signed.length;
    for (const { device } of layout) sum += 2 * device.bytes.publicKey + device.bytes.state + device.bytes.report;
  }
  return Math.ceil(sum / BLOCK_BYTES) * BLOCK_BYTES;
}
