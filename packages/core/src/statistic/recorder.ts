import { LetheError, requireLength, requireWhole } from "../error.ts";
import { headerOf, requireHeader } from "../header.ts";
import type { Randomness } from "../randomness/index.ts";
import type { DeviceSide } from "./statistic.ts";

/**
 * What a device runs for one statistic through one window. Pure: no clock, no storage. The rules it keeps, whatever
 * happens:
 * - opening rerandomizes what was loaded before the first event;
 * - a write rerandomizes, hands out, and rerandomizes again, so that memory never equals what is stored, and what is
 *   stored after w writes holds exactly 2w fresh encryptions;
 * - at most 2·ticks writes happen, later ones are refused; and at most eventsPerTick events are counted in each of at
 *   most `ticks` ticks, later ones are dropped;
 * - sealing starts from the stored copy, fills up to 2·(2·ticks) fresh encryptions, and happens once.
 */
export interface Recorder {
  /** Folds an event into the memory copy at once. Past `eventsPerTick` in a tick, events are dropped. */
  record(metric?: number): void;
  /**
   * The bytes to store, all of the same size; undefined once the window's writes are used up. A write that does not
   * end its tick (the page is closed) leaves no room for more events in that tick: the count of those that were
   * there is not kept.
   */
  write(when?: { readonly endsTick: boolean }): Uint8Array | undefined;
  /** Exactly what a memory dump would show now. */
  inspect(): { readonly ciphertexts: Uint8Array; readonly eventsInTick: number };
  /** Turns the last stored bytes into the report. Afterwards the recorder is of no more use. */
  seal(stored: Uint8Array): Uint8Array;
}

/** What differs between statistics and schemes. `State` is one or more ciphertexts; operations may work in place. */
export interface CiphertextMachine<State> {
  readonly ticks: number;
  readonly eventsPerTick: number;
  readonly metrics: number;
  readonly ciphertextBytes: number;
  start(): State;
  rerandomize(state: State): State;
  fold(state: State, metric: number): State;
  encode(state: State): Uint8Array;
  decode(bytes: Uint8Array): State;
  /** `missing` fresh encryptions bring the state to the number that every report holds. */
  seal(state: State, missing: number): Uint8Array;
}

/**
 * Version, kind, then the number of writes and of ticks in which events could be counted, 32 bits each, little-endian:
 * both depend on times only. Then the ciphertexts.
 */
const HEADER_BYTES = 10;
const KIND_STATE = 0x53;

function storedBytes(ciphertextBytes: number): number {
  return HEADER_BYTES + ciphertextBytes;
}

/** The device's half of a statistic, from the machine that runs under a public key. */
export function deviceSide<State>(
  bytes: { readonly ciphertexts: number; readonly report: number; readonly publicKey: number },
  machine: (publicKey: Uint8Array, random: Randomness) => CiphertextMachine<State>,
): DeviceSide {
  return {
    bytes: { state: storedBytes(bytes.ciphertexts), report: bytes.report, publicKey: bytes.publicKey },
    start: (publicKey, random) => startRecorder(machine(publicKey, random)),
    resume: (publicKey, stored, sameTick, random) => resumeRecorder(machine(publicKey, random), stored, sameTick),
  };
}

export function writesAllowed(ticks: number): number {
  return 2 * ticks;
}

/** A decoded state: `ticks` counts those in which events could be counted, the running one included. */
interface Progress<State> {
  readonly state: State;
  readonly writes: number;
  readonly ticks: number;
}

function startRecorder<State>(machine: CiphertextMachine<State>): Recorder {
  return createRecorder(machine, { state: machine.start(), writes: 0, ticks: 0 }, true);
}

/** `sameTick` says that the last write was in the tick that is still running. */
function resumeRecorder<State>(machine: CiphertextMachine<State>, stored: Uint8Array, sameTick: boolean): Recorder {
  return createRecorder(machine, decodeStored(machine, stored), !sameTick);
}

function createRecorder<State>(
  machine: CiphertextMachine<State>,
  opened: Progress<State>,
  inNewTick: boolean,
): Recorder {
  let memory: State | undefined = machine.rerandomize(opened.state);
  let { writes, ticks } = opened;
  let allowed = 0;
  let eventsInTick = 0;
  continueTick();
  if (inNewTick) beginTick();

  /** Every window has room for the events of `machine.ticks` ticks and no more, however time is said to pass. */
  function beginTick(): void {
    if (ticks < machine.ticks) {
      allowed = machine.eventsPerTick;
      ticks++;
    } else continueTick();
  }

  /** No more events in this tick, unless their number does not matter. */
  function continueTick(): void {
    allowed = Number.isFinite(machine.eventsPerTick) ? 0 : machine.eventsPerTick;
  }

  function unsealed(): State {
    if (memory === undefined) throw new TypeError("this recorder is sealed");
    return memory;
  }

  return {
    record(metric = 0) {
      const state = unsealed();
      requireWhole("metric", metric, 0, machine.metrics - 1);
      if (eventsInTick >= allowed) return;
      // What needs no limit is not counted: the number would only lie in memory.
      if (Number.isFinite(allowed)) eventsInTick++;
      memory = machine.fold(state, metric);
    },
    write({ endsTick } = { endsTick: true }) {
      const state = unsealed();
      if (writes >= writesAllowed(machine.ticks)) return undefined;
      writes++;
      const rerandomized = machine.rerandomize(state);
      const stored = encodeStored(machine, { state: rerandomized, writes, ticks });
      memory = machine.rerandomize(rerandomized);
      eventsInTick = 0;
      if (endsTick) beginTick();
      else continueTick();
      return stored;
    },
    inspect() {
      return { ciphertexts: machine.encode(unsealed()), eventsInTick };
    },
    seal(stored) {
      unsealed();
      const last = decodeStored(machine, stored);
      memory = undefined;
      return machine.seal(last.state, 2 * (writesAllowed(machine.ticks) - last.writes));
    },
  };
}

function encodeStored<State>(machine: CiphertextMachine<State>, { state, writes, ticks }: Progress<State>): Uint8Array {
  const bytes = new Uint8Array(storedBytes(machine.ciphertextBytes));
  const view = new DataView(bytes.buffer);
  bytes.set(headerOf(KIND_STATE));
  view.setUint32(2, writes, true);
  view.setUint32(6, ticks, true);
  bytes.set(machine.encode(state), HEADER_BYTES);
  return bytes;
}

function decodeStored<State>(machine: CiphertextMachine<State>, bytes: Uint8Array): Progress<State> {
  requireLength("a stored state", bytes, storedBytes(machine.ciphertextBytes));
  requireHeader("a stored state", bytes, KIND_STATE);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const counts = { writes: view.getUint32(2, true), ticks: view.getUint32(6, true) };
  const most = { writes: writesAllowed(machine.ticks), ticks: machine.ticks };
  for (const what of ["writes", "ticks"] as const) {
    if (counts[what] < 1 || counts[what] > most[what]) {
      throw new LetheError("bad-encoding", `a stored state counts 1 to ${most[what]} ${what}, not ${counts[what]}`);
    }
  }
  return { state: machine.decode(bytes.subarray(HEADER_BYTES)), ...counts };
}
