import { LetheError, requireLength, requireWhole } from "../error.ts";
import { headerOf, requireHeader } from "../header.ts";
import type { Randomness } from "../randomness/index.ts";
import type { DeviceSide } from "./statistic.ts";
import { type WritesSpec, writesAllowed } from "./writes.ts";

/**
 * What a device runs for one statistic through one window. Pure: no clock, no storage. The rules it keeps, whatever
 * happens:
 * - opening rerandomizes what was loaded before the first event;
 * - a write rerandomizes, returns a copy, and rerandomizes again, so that memory never equals what is stored, and what
 *   is stored after w writes holds exactly 2w fresh encryptions;
 * - a window has W = ticks + hides writes, of which one is kept for every tick that has not ended; later ones are
 *   refused;
 * - a segment, the time between two writes, counts at most as many events as the statistic has room for. Events that do
 *   not fit, and events after the last write, are dropped before they touch a ciphertext;
 * - sealing starts from the stored copy, fills up to 2W fresh encryptions, and happens once.
 */
export interface Recorder {
  /**
   * Folds `times` events, the i-th of `DeviceSide.events`, into the memory copy at once, for every metric that counts
   * them. False if some of them were dropped.
   */
  record(event?: number, times?: number): boolean;
  /**
   * Says which tick of the window is running, from 0: what the ends of periods before it change is applied to the
   * memory copy, once. Never writes; without periods it does nothing.
   */
  reach(tick: number): void;
  /**
   * The bytes to store, all of the same size; undefined if no such write is left, and nothing changed. A write that
   * does not end its tick (the page is closed) counts as one of the hides.
   */
  write(when?: { readonly endsTick: boolean }): Uint8Array | undefined;
  /** What is left of the window. Depends on times only, but for the events. */
  readonly left: RecorderLeft;
  /**
   * Exactly what a memory dump would show now. `eventsInTick` is that of the segment, and 0 where events have no limit.
   */
  inspect(): { readonly ciphertexts: Uint8Array; readonly eventsInTick: number; readonly left: RecorderLeft };
  /** Turns the last stored bytes into the report. Afterwards the recorder is of no more use. */
  seal(stored: Uint8Array): Uint8Array;
}

interface RecorderLeft {
  /** That this segment still counts; infinite where events have no limit. */
  readonly events: number;
  readonly writes: number;
  /** Writes that need not be kept for ticks. */
  readonly hides: number;
}

/** What differs between statistics and schemes. `State` is one or more ciphertexts; operations may work in place. */
export interface CiphertextMachine<State> extends WritesSpec {
  /** The most events that a segment counts; infinite if the state has room for any number. */
  readonly eventsPerTick: number;
  /** As before there were segments: room in every tick, none after a write that does not end it. */
  readonly roomPerTick?: boolean;
  readonly ciphertextBytes: number;
  start(): State;
  rerandomize(state: State): State;
  /** `symbol` is the place of an event in the list that the machine was registered with. */
  fold(state: State, symbol: number, times: number): State;
  /** Of a machine with periods: applies the ends before this tick of the window that were not applied yet. */
  reach?(state: State, tick: number): State;
  encode(state: State): Uint8Array;
  decode(bytes: Uint8Array): State;
  /** `missing` fresh encryptions bring the state to the number that every report holds. */
  seal(state: State, missing: number): Uint8Array;
}

/**
 * Version, kind, then the number of writes and of ticks that have begun, 32 bits each, little-endian: both depend on
 * times only. Then the ciphertexts.
 */
const HEADER_BYTES = 10;
const KIND_STATE = 0x53;

function storedBytes(ciphertextBytes: number): number {
  return HEADER_BYTES + ciphertextBytes;
}

/**
 * The device's half of a statistic, from the machine that runs under a public key. `names` has the event of every symbol
 * of the machine; several may have the same.
 */
export function deviceSide<State>(
  bytes: { readonly ciphertexts: number; readonly report: number; readonly publicKey: number },
  names: readonly string[],
  machine: (publicKey: Uint8Array, random: Randomness) => CiphertextMachine<State>,
): DeviceSide {
  const open = (publicKey: Uint8Array, random: Randomness, stored?: Uint8Array, sameTick = false): Recorder => {
    const opened = machine(publicKey, random);
    const progress = stored ? decodeStored(opened, stored) : { state: opened.start(), writes: 0, ticks: 0 };
    return createRecorder(opened, names, progress, !sameTick);
  };
  return {
    bytes: { ...bytes, state: storedBytes(bytes.ciphertexts) },
    events: [...new Set(names)],
    start: (publicKey, random) => open(publicKey, random),
    resume: (publicKey, stored, sameTick, random) => open(publicKey, random, stored, sameTick),
  };
}

/** A decoded state: `ticks` counts those in which the device ran, the running one included. */
interface Progress<State> {
  readonly state: State;
  readonly writes: number;
  readonly ticks: number;
}

function createRecorder<State>(
  machine: CiphertextMachine<State>,
  names: readonly string[],
  opened: Progress<State>,
  inNewTick: boolean,
): Recorder {
  const events = [...new Set(names)];
  let memory: State | undefined = machine.rerandomize(opened.state);
  /** `ticks` is one more than there are when all have ended. */
  let { writes, ticks } = opened;
  let room = 0;
  let eventsInTick = 0;
  beginSegment(inNewTick);

  function writesLeft(): number {
    return writesAllowed(machine) - writes;
  }

  /** One write is kept for every tick that has not ended; what those that have ended did not use is free. */
  function hidesLeft(): number {
    return Math.max(0, writesLeft() - (machine.ticks + 1 - ticks));
  }

  /** Writes bound the segments, and with them the events of a window, however time is said to pass. */
  function beginSegment(beginsTick: boolean): void {
    if (beginsTick && ticks <= machine.ticks) ticks++;
    const hasRoom = !machine.roomPerTick || (beginsTick && ticks <= machine.ticks);
    room = hasRoom && writesLeft() > 0 ? machine.eventsPerTick : 0;
    eventsInTick = 0;
  }

  function left(): RecorderLeft {
    return { events: room - eventsInTick, writes: writesLeft(), hides: hidesLeft() };
  }

  function unsealed(): State {
    if (memory === undefined) throw new TypeError("this recorder is sealed");
    return memory;
  }

  return {
    record(event = 0, times = 1) {
      let state = unsealed();
      requireWhole("event", event, 0, events.length - 1);
      const counted = Math.min(times, room - eventsInTick);
      if (counted > 0) {
        // Without a limit nothing is counted: the number would only stay in memory.
        if (Number.isFinite(room)) eventsInTick += counted;
        const name = events[event] as string;
        for (let symbol = names.indexOf(name); symbol >= 0; symbol = names.indexOf(name, symbol + 1)) {
          state = machine.fold(state, symbol, counted);
        }
        memory = state;
      }
      return counted >= times;
    },
    reach(tick) {
      memory = machine.reach?.(unsealed(), tick) ?? memory;
    },
    write({ endsTick } = { endsTick: true }) {
      const state = unsealed();
      if ((endsTick ? writesLeft() : hidesLeft()) === 0) return undefined;
      writes++;
      const rerandomized = machine.rerandomize(state);
      const stored = encodeStored(machine, { state: rerandomized, writes, ticks: Math.min(ticks, machine.ticks) });
      memory = machine.rerandomize(rerandomized);
      beginSegment(endsTick);
      return stored;
    },
    get left() {
      return left();
    },
    inspect() {
      return { ciphertexts: machine.encode(unsealed()), eventsInTick, left: left() };
    },
    seal(stored) {
      unsealed();
      const last = decodeStored(machine, stored);
      memory = undefined;
      return machine.seal(last.state, 2 * (writesAllowed(machine) - last.writes));
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
  const most = { writes: writesAllowed(machine), ticks: machine.ticks };
  for (const what of ["writes", "ticks"] as const) {
    if (counts[what] < 1 || counts[what] > most[what]) {
      throw new LetheError("bad-encoding", `a stored state counts 1 to ${most[what]} ${what}, not ${counts[what]}`);
    }
  }
  return { state: machine.decode(bytes.subarray(HEADER_BYTES)), ...counts };
}
