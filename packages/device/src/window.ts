import { join, type Randomness, type Recorder } from "@lethe/core/device";
import type { StoredWindow } from "./record.ts";
import type { KnownTask } from "./service.ts";

/** One window of one device, from enrolment to the sealed report. Times are numbers of ticks since 1970. */
export interface DeviceWindow {
  readonly number: number;
  readonly known: KnownTask;
  /** As it is to be stored. */
  stored(manifest: number): StoredWindow;
  readonly isCounting: boolean;
  /** Begins, or goes on after a restart: from now on events are taken. */
  begin(tick: number): void;
  /** Before `begin`, after `seal`, and if there is no such metric, events are dropped. */
  record(name: string, times: number): void;
  /** In which tick the last write was made, or the window was begun. */
  readonly tick: number;
  /** Rewrites the state; false if the window's writes are used up, and nothing changed. */
  write(endsTick: boolean, tick: number): boolean;
  /** Replaces the state by the report, once. */
  seal(): void;
  /** What is kept to be sent; undefined until it is sealed. */
  readonly report: Uint8Array | undefined;
  /** What a memory dump would show. */
  inspect(): readonly { readonly ciphertexts: Uint8Array; readonly eventsInTick: number }[];
}

export function createWindow(known: KnownTask, kept: Omit<StoredWindow, "manifest">, random: Randomness): DeviceWindow {
  let { publicKeys, state, report, tick } = kept;
  let lastWrite = kept.tick;
  let recorders: Recorder[] | undefined;
  const { layout } = known;

  /** The state of each part. */
  function states(): Uint8Array[] {
    let at = 0;
    return layout.map(({ device: { bytes } }) => {
      at += bytes.state;
      return state.subarray(at - bytes.state, at);
    });
  }

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

  function write(endsTick: boolean): boolean {
    const written = recorders?.map((recorder) => recorder.write({ endsTick })) ?? [];
    if (written.length === 0 || written.includes(undefined)) return false;
    state = join(written as Uint8Array[]);
    return true;
  }

  return {
    number: kept.window,
    known,
    stored: (manifest) => ({ ...kept, manifest, tick: lastWrite, publicKeys, state, report }),
    get isCounting() {
      return recorders !== undefined;
    },
    get tick() {
      return tick;
    },
    get report() {
      return report.length > 0 ? report : undefined;
    },
    begin: (now) => {
      recorders = open(now);
      tick = now;
    },
    record: (name, times) => {
      const part = layout.findIndex(({ metrics }) => metrics.includes(name));
      const metric = layout[part]?.metrics.indexOf(name);
      // More than a tick takes would be dropped one by one.
      for (let left = Math.min(times, layout[part]?.eventsPerTick ?? 0); left > 0; left--) {
        recorders?.[part]?.record(metric);
      }
    },
    write: (endsTick, now) => {
      // The tick that was, if it is over: what comes after belongs to the next.
      lastWrite = endsTick ? tick : now;
      tick = now;
      return write(endsTick);
    },
    seal: () => {
      if (report.length > 0) return;
      recorders ??= open(Number.NaN);
      // A last write; if none is left, the last that there was.
      write(true);
      const last = states();
      const sealed = recorders.map((recorder, i) => recorder.seal(last[i] as Uint8Array));
      report = known.seal(publicKeys, sealed, random);
      recorders = undefined;
      state.fill(0);
      state = publicKeys = new Uint8Array();
    },
    inspect: () => recorders?.map((recorder) => recorder.inspect()) ?? [],
  };
}
