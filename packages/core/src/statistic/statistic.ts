import type { DeviceKeyContext, Secret } from "../encryption/index.ts";
import type { Estimate, QuantileEstimate } from "../estimate/index.ts";
import type { Randomness } from "../randomness/index.ts";
import type { Recorder } from "./recorder.ts";

/** The device's half of a statistic: bytes in, bytes out. */
export interface DeviceSide {
  readonly bytes: StatisticBytes;
  /** The names of the events that it counts, each once; a recorder numbers them in this order. */
  readonly events: readonly string[];
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
   * Opens a report with the key derived for that device and reads its answers. A report that fails the check counts as
   * a draw of the mechanism on "no event": whether it failed must not show in anything released without noise, nor in
   * the time this takes. So the work is the same for every report of the right length: each of its ciphertexts is
   * opened and checked to the end, its answers are read, and a draw is made. Not constant: how long a draw takes, which
   * depends on its coins alone.
   */
  open(master: Secret<Uint8Array>, context: DeviceKeyContext, report: Uint8Array, random: Randomness): OpenedReport;
}

/** How answers are got from what an opened report holds, slots or messages. */
export interface AnswerReader<Opened> {
  /** Undefined if no honest device sends this; as long in coming as any other answer. */
  readonly read: (opened: readonly Opened[]) => readonly number[] | undefined;
  readonly onNoEvent: (random: Randomness) => readonly number[];
}

/** What the ciphertexts of a report hold; anything may stand for one that no honest device sends, if not `intact`. */
interface OpenedCiphertexts<Opened> {
  readonly opened: readonly Opened[];
  readonly intact: boolean;
}

/**
 * The answers of a report, or a draw on "no event" if it has the wrong length (undefined), is not intact or cannot be
 * read. But for the length, which everybody sees, both are computed whichever is returned.
 */
export function readOrDraw<Opened>(
  { read, onNoEvent }: AnswerReader<Opened>,
  random: Randomness,
  report: OpenedCiphertexts<Opened> | undefined,
): OpenedReport {
  const told = report && read(report.opened);
  const drawn = onNoEvent(random);
  return report?.intact && told ? { valid: true, answers: told } : { valid: false, answers: drawn };
}

/** What is done with the answers of all devices, whichever scheme carried them. */
export interface ServerEstimates {
  /**
   * What one device's answers to one metric cost it, in the local model; of several metrics the most. If the noise is
   * Gaussian, at δ.
   */
  localEpsilon(delta?: number): number;
  readonly mechanism: string;
  /**
   * One estimate for each answer, from the answers of all devices added up. Noise of servers is in the sums once for
   * each of `parts` groups of devices, by default one.
   */
  estimate(sums: readonly number[], devices: number, parts?: number): Estimate[];
  /**
   * Of statistics with categories: the sum of the categories' true figures with these weights, and its error from the
   * joint distribution of the estimates.
   */
  combine?(sums: readonly number[], devices: number, weights: readonly number[]): Estimate;
  /** The nearest values to the estimates that could be true. */
  consistent(estimates: readonly number[], devices: number): number[];
  /** Of categories: these quantiles, as if the categories were in order of size. `parts` as for `estimate`. */
  quantiles?(sums: readonly number[], devices: number, asked: readonly number[], parts?: number): QuantileEstimate[];
}

/** The δ at which a local ε is stated that has one. */
export const MEAN_DELTA = 1e-6;

/** What the server reads in one report. */
export interface OpenedReport {
  /** For the tally's eyes only. */
  readonly valid: boolean;
  readonly answers: readonly number[];
}

/** Looks at all of these 32-bit integers, wherever one is no bit. */
export function areBits(values: readonly number[]): boolean {
  return values.reduce((others, value) => others | (value & ~1), 0) === 0;
}
