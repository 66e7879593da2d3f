import { join, split } from "../../bytes.ts";
import {
  type AdditiveScheme,
  type DeviceKeyContext,
  type DeviceScheme,
  deriveDevicePublicKey,
  deriveDeviceSecretKey,
} from "../../encryption/index.ts";
import { LetheError, requireLength } from "../../error.ts";
import type { Randomness } from "../../randomness/index.ts";
import { type CiphertextMachine, deviceSide } from "../recorder.ts";
import { type AnswerReader, type DeviceSide, readOrDraw, type ServerSide } from "../statistic.ts";
import { DEFAULT_HIDES, type WritesSpec } from "../writes.ts";

/** The schemes for which the paper's algorithms are written: integers that add up under encryption. */
export interface CounterScheme<PublicKey, SecretKey, Ciphertext>
  extends AdditiveScheme<number, PublicKey, SecretKey, Ciphertext> {
  /**
   * Decodes and decrypts, with the same work whether there is a message or not. Without it, time shows which
   * ciphertexts of a report have none.
   */
  open?(secretKey: SecretKey, bytes: Uint8Array): number | undefined;
  /** The public key of `generateKeys`, encoded: a quicker way to it. */
  issueKey?(random: Randomness): Uint8Array;
}

/** The part of a scheme with which a device forms sums under encryption. */
export type Adding<Ciphertext> = Pick<AdditiveScheme<number, never, never, Ciphertext>, "add">;

const MOST_CIPHERTEXTS = 10_000;
/** A table of a key's multiples makes encrypting several times faster, and takes 700 kB. */
const MOST_TABLES = 32;

/** Public keys and randomness, ready to encrypt: each slot of the vector under the key that it belongs to. */
export interface Encryptor<Ciphertext> {
  encrypt(message: number, slot: number): Ciphertext;
  rerandomize(ciphertext: Ciphertext, slot: number): Ciphertext;
}

/** The steps of an algorithm on a vector of ciphertexts, given means to encrypt. */
export interface PaperAlgorithm<Ciphertext> {
  /** After this number of events of a metric further ones change nothing. */
  readonly saturation: number;
  readonly metrics: number;
  /** Ciphertexts in the state, and in the report. */
  readonly stateLength: number;
  readonly reportLength: number;
  /**
   * 1 if all slots share a key; else every slot has its own, so that what is in one of them cannot be put into another.
   */
  readonly keys: number;
  initialize(encryptor: Encryptor<Ciphertext>): Ciphertext[];
  update(state: readonly Ciphertext[], metric: number, encryptor: Encryptor<Ciphertext>): Ciphertext[];
  sendToServer(state: readonly Ciphertext[], encryptor: Encryptor<Ciphertext>, random: Randomness): Ciphertext[];
}

/**
 * Runs an algorithm of the paper on a device. The paper writes Rerandomize^t(Enc(·)) so that no path shows how many
 * rerandomizations it took; a scheme that hides them perfectly needs Enc(·) only, so one is required.
 */
export function paperDevice<PublicKey, Ciphertext>(
  scheme: DeviceScheme<PublicKey, Ciphertext>,
  { ticks, hides = DEFAULT_HIDES }: WritesSpec,
  algorithm: PaperAlgorithm<Ciphertext>,
): DeviceSide {
  if (!scheme.hidesRerandomizations) {
    throw new TypeError(`${scheme.id} shows the key holder how often a ciphertext was rerandomized`);
  }
  if (algorithm.stateLength > MOST_CIPHERTEXTS) {
    throw new RangeError(
      `${scheme.id} would keep ${algorithm.stateLength} ciphertexts, and more than ${MOST_CIPHERTEXTS} take minutes to ` +
        "write: lower the last of the edges, the limit or the number of metrics, or use the lattice scheme, with one server",
    );
  }
  const ciphertextBytes = algorithm.stateLength * scheme.ciphertextBytes;
  const keyBytes = algorithm.keys * scheme.publicKeyBytes;

  function machine(publicKeyBytes: Uint8Array, random: Randomness): CiphertextMachine<readonly Ciphertext[]> {
    requireLength("a public key", publicKeyBytes, keyBytes);
    const keys = split(publicKeyBytes, algorithm.keys).map((key) =>
      scheme.decodePublicKey(key, algorithm.keys <= MOST_TABLES),
    );
    const keyOf = (slot: number): PublicKey => keys[slot % keys.length] as PublicKey;
    const encryptor: Encryptor<Ciphertext> = {
      encrypt: (message, slot) => scheme.encrypt(keyOf(slot), message, random),
      rerandomize: (ciphertext, slot) => scheme.rerandomize(keyOf(slot), ciphertext, random),
    };
    return {
      ticks,
      hides,
      eventsPerTick: Number.POSITIVE_INFINITY,
      metrics: algorithm.metrics,
      ciphertextBytes,
      start: () => algorithm.initialize(encryptor),
      rerandomize: (state) => state.map(encryptor.rerandomize),
      fold: (state, metric, times) => {
        let updated = state;
        for (let left = Math.min(times, algorithm.saturation); left > 0; left--) {
          updated = algorithm.update(updated, metric, encryptor);
        }
        return updated;
      },
      encode: (state) => join(state.map(scheme.encode)),
      decode: (bytes) => decodeVector(scheme, bytes, algorithm.stateLength),
      seal: (state) => join(algorithm.sendToServer(state, encryptor, random).map(scheme.encode)),
    };
  }

  const bytes = { report: algorithm.reportLength * scheme.ciphertextBytes, publicKey: keyBytes };
  return deviceSide({ ...bytes, ciphertexts: ciphertextBytes }, machine);
}

/** The part of the server's half that is the same for all of the paper's algorithms; `keys` as in `PaperAlgorithm`. */
export function paperServer<PublicKey, SecretKey, Ciphertext>(
  scheme: CounterScheme<PublicKey, SecretKey, Ciphertext>,
  { reportLength, keys }: Pick<PaperAlgorithm<Ciphertext>, "reportLength" | "keys">,
  answers: AnswerReader<number>,
): Pick<ServerSide, "issueKey" | "open"> {
  const contextsOf = (context: DeviceKeyContext): DeviceKeyContext[] =>
    Array.from({ length: keys }, (_, i) => ({ ...context, index: context.index + i }));
  const open = scheme.open ?? ((secretKey, bytes) => decodeAndDecrypt(scheme, secretKey, bytes));
  const generateAndEncode = (random: Randomness) => scheme.encodePublicKey(scheme.generateKeys(random).publicKey);
  const issuing = { id: scheme.id, issueKey: scheme.issueKey ?? generateAndEncode };
  return {
    issueKey: (master, context) =>
      join(contextsOf(context).map((each) => deriveDevicePublicKey(issuing, master, each))),
    open: (master, context, report, random) => {
      if (report.length !== reportLength * scheme.ciphertextBytes) return readOrDraw(answers, random, undefined);
      const secretKeys = contextsOf(context).map((each) => deriveDeviceSecretKey(scheme, master, each));
      const messages = split(report, reportLength).map((bytes, i) => open(secretKeys[i % keys] as SecretKey, bytes));
      const intact = !messages.includes(undefined);
      return readOrDraw(answers, random, { opened: messages.map((message) => message ?? 0), intact });
    },
  };
}

/**
 * Bits to which a response is applied under encryption: every bit is kept and rerandomized, or replaced by a fresh
 * encryption. Both are always prepared.
 */
export function applyResponses<Ciphertext>(
  bits: readonly Ciphertext[],
  responses: readonly (0 | 1 | "keep")[],
  { encrypt, rerandomize }: Encryptor<Ciphertext>,
): Ciphertext[] {
  return bits.map((bit, i) => {
    const response = responses[i] as 0 | 1 | "keep";
    const kept = rerandomize(bit, i);
    const replaced = encrypt(response === "keep" ? 0 : response, i);
    return response === "keep" ? kept : replaced;
  });
}

function decodeAndDecrypt<P, SecretKey, C>(
  scheme: CounterScheme<P, SecretKey, C>,
  secretKey: SecretKey,
  bytes: Uint8Array,
): number | undefined {
  try {
    return scheme.decrypt(secretKey, scheme.decode(bytes));
  } catch (error) {
    if (error instanceof LetheError) return undefined;
    throw error;
  }
}

function decodeVector<P, Ciphertext>(
  scheme: DeviceScheme<P, Ciphertext>,
  bytes: Uint8Array,
  length: number,
): Ciphertext[] {
  requireLength(`a vector of ${length} ciphertexts`, bytes, length * scheme.ciphertextBytes);
  return split(bytes, length).map(scheme.decode);
}
