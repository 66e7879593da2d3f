import { LetheError, requireLength } from "../error.ts";

/**
 * What a device runs for one statistic through one window. Pure: no clock, no storage. The rules it keeps, whatever
 * happens:
 * - opening rerandomizes what was loaded before the first event;
 * - a write rerandomizes, hands out, and rerandomizes again, so that memory never equals what is stored, and what is
 *   stored after w writes holds exactly 2w fresh encryptions;
 * - at most 2·ticks writes happen; later ones are refused;
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

/** Version, kind, and the number of writes as 32 bits, little-endian; then the ciphertexts. */
const HEADER_BYTES = 6;
const VERSION = 1;
const KIND_STATE = 0x53;

export function storedBytes(ciphertextBytes: number): number {
  return HEADER_BYTES + ciphertextBytes;
}

export function writesAllowed(ticks: number): number {
  return 2 * ticks;
}

export function startRecorder<State>(machine: CiphertextMachine<State>): Recorder {
  return createRecorder(machine, machine.start(), 0, machine.eventsPerTick);
}

/** `sameTick` says that the last write was in the tick that is still running. */
export function resumeRecorder<State>(
  machine: CiphertextMachine<State>,
  stored: Uint8Array,
  sameTick: boolean,
): Recorder {
  const { state, writes } = decodeStored(machine, stored);
  return createRecorder(machine, state, writes, sameTick ? 0 : machine.eventsPerTick);
}

function createRecorder<State>(
  machine: CiphertextMachine<State>,
  opened: State,
  writesBefore: number,
  roomInTick: number,
): Recorder {
  let memory: State | undefined = machine.rerandomize(opened);
  let writes = writesBefore;
  let room = roomInTick;
  let eventsInTick = 0;

  function unsealed(): State {
    if (memory === undefined)
      throw new TypeError("this recorder is sealed: it takes no more events and no second seal");
    return memory;
  }

  return {
    record(metric = 0) {
      const state = unsealed();
      if (!Number.isInteger(metric) || metric < 0 || metric >= machine.metrics) {
        throw new RangeError(`metrics are numbered 0 to ${machine.metrics - 1}, there is no metric ${metric}`);
      }
      if (room === 0) return;
      room--;
      if (Number.isFinite(room)) eventsInTick++;
      memory = machine.fold(state, metric);
    },
    write({ endsTick } = { endsTick: true }) {
      const state = unsealed();
      if (writes >= writesAllowed(machine.ticks)) return undefined;
      writes++;
      const rerandomized = machine.rerandomize(state);
      const stored = encodeStored(machine, rerandomized, writes);
      memory = machine.rerandomize(rerandomized);
      room = endsTick ? machine.eventsPerTick : 0;
      eventsInTick = 0;
      return stored;
    },
    inspect() {
      return { ciphertexts: machine.encode(unsealed()), eventsInTick };
    },
    seal(stored) {
      unsealed();
      const { state, writes: storedWrites } = decodeStored(machine, stored);
      memory = undefined;
      return machine.seal(state, 2 * (writesAllowed(machine.ticks) - storedWrites));
    },
  };
}

function encodeStored<State>(machine: CiphertextMachine<State>, state: State, writes: number): Uint8Array {
  const bytes = new Uint8Array(storedBytes(machine.ciphertextBytes));
  bytes[0] = VERSION;
  bytes[1] = KIND_STATE;
  new DataView(bytes.buffer).setUint32(2, writes, true);
  bytes.set(machine.encode(state), HEADER_BYTES);
  return bytes;
}

function decodeStored<State>(machine: CiphertextMachine<State>, bytes: Uint8Array): { state: State; writes: number } {
  requireLength("a stored state", bytes, storedBytes(machine.ciphertextBytes));
  if (bytes[0] !== VERSION || bytes[1] !== KIND_STATE) {
    throw new LetheError("bad-encoding", "these bytes are not a stored state of this version");
  }
  const writes = new DataView(bytes.buffer, bytes.byteOffset).getUint32(2, true);
  if (writes < 1 || writes > writesAllowed(machine.ticks)) {
    throw new LetheError(
      "bad-encoding",
      `a stored state counts 1 to ${writesAllowed(machine.ticks)} writes, not ${writes}`,
    );
  }
  return { state: machine.decode(bytes.subarray(HEADER_BYTES)), writes };
}
