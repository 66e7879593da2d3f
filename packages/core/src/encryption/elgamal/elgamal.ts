import { bytesToNumberLE } from "@noble/curves/utils.js";
import { LetheError, requireLength } from "../../error.ts";
import type { Randomness } from "../../randomness/index.ts";
import type { AdditiveScheme, KeyPair, RerandomizableScheme } from "../rerandomizable.ts";
import { type Secret, secret } from "../secret.ts";
import { createDiscreteLog, multiplyByInteger } from "./discrete-log.ts";
import type { RistrettoGroup } from "./group.ts";
import { nobleGroup, scalarBytes } from "./noble-group.ts";
import {
  BASE,
  canonicalPoints,
  decodePoint,
  IDENTITY,
  multiplyBaseOnce,
  POINT_BYTES,
  type RistrettoPoint,
  randomScalar,
  STAND_IN,
  WIDE_BYTES,
} from "./ristretto.ts";

/** P = x·G, with a table of its multiples built at first use. */
export interface ElGamalPublicKey {
  readonly point: RistrettoPoint;
}
/** x with P = x·G, as 32 little-endian bytes. */
export type ElGamalSecretKey = Secret<Uint8Array>;

/**
 * (r·G, M + r·P). Points stay decoded in memory, in canonical coordinates: what made a ciphertext, an encryption, a
 * rerandomization or a sum, cannot be read off a memory dump.
 */
export interface ElGamalCiphertext {
  readonly ephemeral: RistrettoPoint;
  readonly masked: RistrettoPoint;
}

type Group = RerandomizableScheme<RistrettoPoint, ElGamalPublicKey, ElGamalSecretKey, ElGamalCiphertext>;

/** ElGamal for integers in a range, which add up under encryption. */
export interface ElGamalCounter extends AdditiveScheme<number, ElGamalPublicKey, ElGamalSecretKey, ElGamalCiphertext> {
  /**
   * Decodes and decrypts; undefined where one of them would throw. The work is the same for all bytes of the right
   * length: two square roots, a multiplication and a whole discrete logarithm.
   */
  open(secretKey: ElGamalSecretKey, bytes: Uint8Array): number | undefined;
  issueKey(random: Randomness): Uint8Array;
}

/**
 * ElGamal over Ristretto255 with a group element as the message. Semantically secure under the decisional
 * Diffie–Hellman assumption; not against quantum computers. Rerandomization is perfect: even the key holder sees
 * no difference from a fresh encryption. JavaScript's integers are not constant-time; noble's `multiply` takes a
 * fixed number of additions for every scalar, which narrows what timing shows but does not close it.
 */
export const elgamalGroup: Group = {
  id: "elgamal ristretto255",
  hidesRerandomizations: true,
  generateKeys,
  generateSecretKey: (random) => secret(scalarBytes(randomScalar(random))),
  encrypt,
  rerandomize,
  decrypt,
  ciphertextBytes: 2 * POINT_BYTES,
  publicKeyBytes: POINT_BYTES,
  encode,
  decode,
  encodePublicKey: ({ point }) => point.toBytes(),
  decodePublicKey,
};

/** Integers in the exponent, as devices encrypt and add them. */
export const elgamalIntegers: Omit<
  AdditiveScheme<number, ElGamalPublicKey, ElGamalSecretKey, ElGamalCiphertext>,
  "decrypt"
> = {
  ...elgamalGroup,
  encrypt: (publicKey, message, random) => encrypt(publicKey, messagePoint(message), random),
  add,
  scale: (factor, { ephemeral, masked }) =>
    canonical(multiplyByInteger(ephemeral, factor), multiplyByInteger(masked, factor)),
};

/** What a server does with the keys of ElGamal. The keys do not depend on the group that computes them. */
export interface ElGamalKeys {
  readonly id: string;
  generateSecretKey(random: Randomness): ElGamalSecretKey;
  /** The public key of `generateKeys`, encoded. */
  issueKey(random: Randomness): Uint8Array;
}

/** Makes keys with a group. */
export function createElGamalKeys(group: RistrettoGroup): ElGamalKeys {
  const wide = new Uint8Array(WIDE_BYTES);
  /** As `randomScalar` draws it. */
  const drawScalar = (random: Randomness): Uint8Array => {
    let scalar: Uint8Array;
    do {
      random(wide);
      scalar = group.reduce(wide);
    } while (scalar.every((byte) => byte === 0));
    wide.fill(0);
    return scalar;
  };
  return {
    id: elgamalGroup.id,
    generateSecretKey: (random) => secret(drawScalar(random)),
    issueKey: (random) => {
      const scalar = drawScalar(random);
      const publicKey = group.multiplyBase(scalar);
      scalar.fill(0);
      return publicKey;
    },
  };
}

/**
 * The same scheme with integers in the exponent, m ↦ m·G, so that ciphertexts add up. Any integer can be
 * encrypted; only one in [minimum, maximum] can be decrypted, others give `LetheError` `undecryptable`, and so
 * does a ciphertext under another key. `group` makes keys and opens.
 */
export function createElGamalCounter(
  { minimum, maximum }: { readonly minimum: number; readonly maximum: number },
  group: RistrettoGroup = nobleGroup,
): ElGamalCounter {
  const discreteLog = createDiscreteLog(minimum, maximum, group);
  return {
    ...elgamalIntegers,
    ...createElGamalKeys(group),
    decrypt: (secretKey, ciphertext) => {
      const message = discreteLog(decrypt(secretKey, ciphertext).toBytes());
      if (message === undefined) {
        throw new LetheError("undecryptable", `no counter from ${minimum} to ${maximum} is in this ciphertext`);
      }
      return message;
    },
    open: (secretKey, bytes) => {
      requireLength("an ElGamal ciphertext", bytes, 2 * POINT_BYTES);
      const { elements, decoded } = group.unmask([secretKey.reveal()], bytes);
      const message = discreteLog(elements[0] as Uint8Array);
      return decoded ? message : undefined;
    },
  };
}

function generateKeys(random: Randomness): KeyPair<ElGamalPublicKey, ElGamalSecretKey> {
  const scalar = randomScalar(random);
  return { publicKey: preparePublicKey(BASE.multiply(scalar)), secretKey: secret(scalarBytes(scalar)) };
}

function encrypt(publicKey: ElGamalPublicKey, message: RistrettoPoint, random: Randomness): ElGamalCiphertext {
  return rerandomize(publicKey, { ephemeral: IDENTITY, masked: message }, random);
}

function rerandomize(publicKey: ElGamalPublicKey, { ephemeral, masked }: ElGamalCiphertext, random: Randomness) {
  const r = randomScalar(random);
  return canonical(ephemeral.add(multiplyBaseOnce(r)), masked.add(publicKey.point.multiply(r)));
}

/** M = masked − x·(r·G). Multiplying 0·G is faster, because its coordinates are zero, so it is not done. */
function decrypt(secretKey: ElGamalSecretKey, { ephemeral, masked }: ElGamalCiphertext): RistrettoPoint {
  const isIdentity = ephemeral.is0();
  const product = (isIdentity ? STAND_IN : ephemeral).multiply(bytesToNumberLE(secretKey.reveal()));
  return masked.subtract(isIdentity ? IDENTITY : product);
}

function canonical(ephemeral: RistrettoPoint, masked: RistrettoPoint): ElGamalCiphertext {
  const [first, second] = canonicalPoints([ephemeral, masked]) as [RistrettoPoint, RistrettoPoint];
  return { ephemeral: first, masked: second };
}

/** Messages from −2⁵² to 2⁵² become scalars of the same length, so that every encryption takes the same time. */
const OFFSET = 2n ** 200n;
/**
 * Made when it is first needed: the first multiplication of a process makes noble's table for G, and many processes
 * never multiply.
 */
let offsetPoint: RistrettoPoint | undefined;
const BITS = [IDENTITY, BASE] as const;

/** m·G, for a secret m. Bits, by far the most frequent messages, need no multiplication. */
function messagePoint(message: number): RistrettoPoint {
  if (!Number.isSafeInteger(message)) throw new RangeError(`a counter is a whole number, not ${message}`);
  offsetPoint ??= multiplyBaseOnce(OFFSET);
  return BITS[message] ?? multiplyBaseOnce(OFFSET + BigInt(message)).subtract(offsetPoint);
}

function add(left: ElGamalCiphertext, right: ElGamalCiphertext): ElGamalCiphertext {
  return canonical(left.ephemeral.add(right.ephemeral), left.masked.add(right.masked));
}

function encode({ ephemeral, masked }: ElGamalCiphertext): Uint8Array {
  const bytes = new Uint8Array(2 * POINT_BYTES);
  bytes.set(ephemeral.toBytes());
  bytes.set(masked.toBytes(), POINT_BYTES);
  return bytes;
}

function decode(bytes: Uint8Array): ElGamalCiphertext {
  requireLength("an ElGamal ciphertext", bytes, 2 * POINT_BYTES);
  return {
    ephemeral: decodePoint(bytes.subarray(0, POINT_BYTES)),
    masked: decodePoint(bytes.subarray(POINT_BYTES)),
  };
}

/** `isUsedOften` unless a table of the point's multiples would not be worth its memory. */
function decodePublicKey(bytes: Uint8Array, isUsedOften = true): ElGamalPublicKey {
  const point = decodePoint(bytes);
  // Under P = 0 a ciphertext carries its message in the clear.
  if (point.equals(IDENTITY)) throw new LetheError("bad-encoding", "the identity is not a public key");
  return isUsedOften ? preparePublicKey(point) : { point };
}

/** Bits of the scalar for each addition. One bit more saves a seventh of the time, and doubles the table. */
const KEY_WINDOW = 7;

/** Asks noble to keep a table of the point's multiples, as it does for G. */
function preparePublicKey(point: RistrettoPoint): ElGamalPublicKey {
  point.precompute(KEY_WINDOW);
  return { point };
}
