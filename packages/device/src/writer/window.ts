import {
  beginningOf,
  type DeviceLayoutPart,
  join,
  type Randomness,
  type Recorder,
  splitInto,
} from "@lethe/core/device";
import type { StoredWindow } from "../record-codec.ts";
import type { KnownTask } from "../service.ts";

const RECEIPT_BYTES = 16;

/** One window of one device, from enrolment to the sealed report. Times are numbers of ticks since 1970. */
export interface DeviceWindow {
  readonly number: number;
  readonly known: KnownTask;
  /** When it begins and ends, as Unix time in milliseconds. */
  readonly begins: number;
  readonly ends: number;
  /** As it is to be stored. */
  stored(manifest: number): StoredWindow;
  readonly isCounting: boolean;
  /** Begins, or goes on after a restart: from now on events are taken. */
  begin(tick: number): void;
  /**
   * While it is counting: false if some of the events were dropped, because there is no room for them. Every statistic
   * that counts them gets them.
   */
  record(name: string, times: number, tick: number): boolean;
  /** In which tick the last write was made, or the window was begun. */
  readonly tick: number;
  /** While it is counting: rewrites the state; false if no such write is left, and nothing changed. */
  write(endsTick: boolean, tick: number): boolean;
  /** How many writes are left that end no tick; 0 unless it is counting. */
  readonly hidesLeft: number;
  /** Replaces the state by the report, once. */
  seal(): void;
  /** Whether the report has replaced the state. */
  readonly isSealed: boolean;
  /** What a memory dump would show. */
  inspect(): readonly ReturnType<Recorder["inspect"]>[];
}

/** A window as it was stored, or one without state that was enrolled in just now. It counts after `begin`. */
export function createWindow(known: KnownTask, kept: Omit<StoredWindow, "manifest">, random: Randomness): DeviceWindow {
  let { publicKeys, state, report, tick } = kept;
  let lastWrite = kept.tick;
  /** While it counts. */
  let recorders: readonly Recorder[] = [];
  const { layout } = known;

  const lengths = layout.map(({ device }) => device.bytes.state);
  /** The state of each part. */
  const states = (): Uint8Array[] => splitInto(state, lengths);

  /** In the parts' order, from the state if there is one. */
  function open(now: number): Recorder[] {
    const keys = known.keysOf(publicKeys, kept.window);
    const last = states();
    return layout.map(({ device }, i) => {
      const key = keys[i] as Uint8Array;
      if (state.length === 0) return device.start(key, random);
      return device.resume(key, last[i] as Uint8Array, now === lastWrite, random);
    });
  }

  /** After the ends of all periods that are over when this tick runs. */
  function recordersAt(now: number): readonly Recorder[] {
    for (const recorder of recorders) recorder.reach(now - kept.window * known.manifest.ticks);
    return recorders;
  }

  function write(endsTick: boolean, now: number): boolean {
    const written = recordersAt(now).map((recorder) => recorder.write({ endsTick }));
    if (written.includes(undefined)) return false;
    state = join(written as Uint8Array[]);
    return true;
  }

  return {
    number: kept.window,
    known,
    begins: 1000 * beginningOf(known.manifest, kept.window),
    ends: 1000 * beginningOf(known.manifest, kept.window + 1),
    stored: (manifest) => ({ ...kept, manifest, tick: lastWrite, publicKeys, state, report }),
    get isCounting() {
      return recorders.length > 0;
    },
    get tick() {
      return tick;
    },
    get hidesLeft() {
      // All parts write together.
      return recorders[0]?.left.hides ?? 0;
    },
    get isSealed() {
      return report.length > 0;
    },
    begin: (now) => {
      recorders = open(now);
      recordersAt(now);
      tick = now;
    },
    record: (name, times, now) => {
      const counted = recordersAt(now).map((recorder, i) => {
        const event = (layout[i] as DeviceLayoutPart).device.events.indexOf(name);
        return event < 0 || recorder.record(event, times);
      });
      return !counted.includes(false);
    },
    write: (endsTick, now) => {
      // The tick that was, if it is over: what comes after belongs to the next.
      const written = endsTick ? tick : now;
      tick = now;
      if (!write(endsTick, now)) return false;
      lastWrite = written;
      return true;
    },
    seal: () => {
      if (report.length > 0) return;
      if (recorders.length === 0) recorders = open(Number.NaN);
      // A last write; if none is left, the last that there was. Sealing ends the periods that are left.
      write(true, Number.NaN);
      const last = states();
      const sealed = recorders.map((recorder, i) => recorder.seal(last[i] as Uint8Array));
      report = known.seal(publicKeys, sealed, random);
      recorders = [];
      state.fill(0);
      state = new Uint8Array();
      // Names the report, on this device alone: a budget counts it once.
      publicKeys = new Uint8Array(RECEIPT_BYTES);
      random(publicKeys);
    },
    inspect: () => recorders.map((recorder) => recorder.inspect()),
  };
}
