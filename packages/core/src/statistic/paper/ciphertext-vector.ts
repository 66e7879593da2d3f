import {
  type AdditiveScheme,
  deriveDeviceKeys,
  deriveDeviceSecretKey,
  type RerandomizableScheme,
} from "../../encryption/index.ts";
import { LetheError, requireLength } from "../../error.ts";
import type { Randomness } from "../../randomness/index.ts";
import { join, split } from "../concatenation.ts";
import { type CiphertextMachine, deviceSide } from "../recorder.ts";
import { type AnswerReader, type DeviceSide, readOrDraw, type ServerSide } from "../statistic.ts";

/** The schemes for which the paper's algorithms are written: integers that add up under encryption. */
export interface CounterScheme<PublicKey, SecretKey, Ciphertext>
  extends AdditiveScheme<number, PublicKey, SecretKey, Ciphertext> {
  /**
   * Decodes and decrypts, with the same work whether there is a message or not. Without it, time shows which ciphertexts of
   * a report have none.
   */
  open?(secretKey: SecretKey, bytes: Uint8Array): number | undefined;
}

/** What a device needs of a scheme: nothing that opens, nothing that adds. */
export type DeviceScheme<PublicKey, Ciphertext> = Omit<
  RerandomizableScheme<number, PublicKey, never, Ciphertext>,
  "generateKeys" | "generateSecretKey" | "decrypt" | "encodePublicKey"
>;

const MOST_CIPHERTEXTS = 10_000;

/** A public key and randomness, ready to encrypt. */
export interface Encryptor<Ciphertext> {
  encrypt(message: number): Ciphertext;
  rerandomize(ciphertext: Ciphertext): Ciphertext;
}

/** The steps of an algorithm on a vector of ciphertexts, given means to encrypt. */
export interface PaperAlgorithm<Ciphertext> {
  readonly ticks: number;
  readonly eventsPerTick: number;
  readonly metrics: number;
  /** Ciphertexts in the state, and in the report. */
  readonly stateLength: number;
  readonly reportLength: number;
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

  function machine(publicKeyBytes: Uint8Array, random: Randomness): CiphertextMachine<readonly Ciphertext[]> {
    const publicKey = scheme.decodePublicKey(publicKeyBytes);
    const encryptor: Encryptor<Ciphertext> = {
      encrypt: (message) => scheme.encrypt(publicKey, message, random),
      rerandomize: (ciphertext) => scheme.rerandomize(publicKey, ciphertext, random),
    };
    return {
      ticks: algorithm.ticks,
      eventsPerTick: algorithm.eventsPerTick,
      metrics: algorithm.metrics,
      ciphertextBytes,
      start: () => algorithm.initialize(encryptor),
      rerandomize: (state) => state.map(encryptor.rerandomize),
      fold: (state, metric) => algorithm.update(state, metric, encryptor),
      encode: (state) => join(state.map(scheme.encode)),
      decode: (bytes) => decodeVector(scheme, bytes, algorithm.stateLength),
      seal: (state) => join(algorithm.sendToServer(state, encryptor, random).map(scheme.encode)),
    };
  }

  const bytes = { report: algorithm.reportLength * scheme.ciphertextBytes, publicKey: scheme.publicKeyBytes };
  return deviceSide({ ...bytes, ciphertexts: ciphertextBytes }, machine);
}

/** The part of the server's half that is the same for all of the paper's algorithms. */
export function paperServer<PublicKey, SecretKey, Ciphertext>(
  scheme: CounterScheme<PublicKey, SecretKey, Ciphertext>,
  reportLength: number,
  answers: AnswerReader<number>,
): Pick<ServerSide, "issueKey" | "open"> {
  const open = scheme.open ?? ((secretKey, bytes) => decodeAndDecrypt(scheme, secretKey, bytes));
  return {
    issueKey: (master, context) => scheme.encodePublicKey(deriveDeviceKeys(scheme, master, context).publicKey),
    open: (master, context, report, random) => {
      if (report.length !== reportLength * scheme.ciphertextBytes) return readOrDraw(answers, random, undefined);
      const secretKey = deriveDeviceSecretKey(scheme, master, context);
      const messages = split(report, reportLength).map((bytes) => open(secretKey, bytes));
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
    const kept = rerandomize(bit);
    const replaced = encrypt(response === "keep" ? 0 : response);
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
