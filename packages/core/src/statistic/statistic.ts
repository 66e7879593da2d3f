import type { DeviceKeyContext, Secret } from "../encryption/index.ts";
import { LetheError } from "../error.ts";
import type { Estimate } from "../estimate/index.ts";
import type { Randomness } from "../randomness/index.ts";
import type { Recorder } from "./recorder.ts";

/** The device's half of a statistic: bytes in, bytes out. */
export interface DeviceSide {
  readonly bytes: StatisticBytes;
  start(publicKey: Uint8Array, random: Randomness): Recorder;
  /** Goes on from stored bytes; `sameTick` if the tick of the last write is still running. */
  resume(publicKey: Uint8Array, stored: Uint8Array, sameTick: boolean, random: Randomness): Recorder;
}

/** Sizes that are the same for all devices and all streams. */
export interface StatisticBytes {
  readonly state: number;
  readonly report: number;
  readonly publicKey: number;
}

/** The server's half. */
export interface ServerSide extends ServerEstimates {
  /** The public key for a device; further ciphertexts of the statistic use the indices after `context.index`. */
  issueKey(master: Secret<Uint8Array>, context: DeviceKeyContext): Uint8Array;
  /**
   * Opens a report with the key derived for that device and reads its answers. A report that fails the check counts
   * as a draw of the mechanism on "no event": whether it failed must not show in anything released without noise.
   */
  open(master: Secret<Uint8Array>, context: DeviceKeyContext, report: Uint8Array, random: Randomness): OpenedReport;
}

/** How answers are got from what an opened report holds, slots or messages. */
export interface AnswerReader<Opened> {
  /** Undefined if no honest device sends this. */
  readonly read: (opened: readonly Opened[]) => readonly number[] | undefined;
  readonly onNoEvent: (random: Randomness) => readonly number[];
}

/** The answers of a report, or a draw on "no event" if it cannot be opened (undefined or `LetheError`) or read. */
export function readOrDraw<Opened>(
  { read, onNoEvent }: AnswerReader<Opened>,
  random: Randomness,
  open: () => readonly Opened[] | undefined,
): OpenedReport {
  const answers = answersOf(open, read);
  return answers ? { valid: true, answers } : { valid: false, answers: onNoEvent(random) };
}

function answersOf<Opened>(
  open: () => readonly Opened[] | undefined,
  read: AnswerReader<Opened>["read"],
): readonly number[] | undefined {
  try {
    const opened = open();
    return opened && read(opened);
  } catch (error) {
    if (error instanceof LetheError) return undefined;
    throw error;
  }
}

/** What is done with the answers of all devices, whichever scheme carried them. */
export interface ServerEstimates {
  /** What one device's answers to one metric cost it, in the local model; of several metrics the most. */
  localEpsilon(): number;
  readonly mechanism: string;
  /** One estimate for each answer, from the answers of all devices added up. */
  estimate(sums: readonly number[], devices: number): Estimate[];
  /** The nearest values to the estimates that could be true. */
  consistent(estimates: readonly number[], devices: number): number[];
}

export interface OpenedReport {
  /** For the tally's eyes only. */
  readonly valid: boolean;
  readonly answers: readonly number[];
}

/** A window needs at least one tick, and counts events up to some number in each. */
export function requireWhole(what: string, value: number, least: number, most: number): void {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new RangeError(`${what} is a whole number from ${least} to ${most}, not ${value}`);
  }
}

export function areBits(values: readonly number[]): boolean {
  return values.every((value) => value === 0 || value === 1);
}

export const MOST_TICKS = 100_000;
