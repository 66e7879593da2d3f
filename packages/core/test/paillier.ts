import { generateRandomKeysSync, PublicKey as PaillierKey, type PrivateKey } from "paillier-bigint";
import type { AdditiveScheme } from "../src/encryption/rerandomizable.ts";
import { LetheError } from "../src/error.ts";
import { uniformBelowBig } from "../src/randomness/uniform-big.ts";

/** A third scheme, to show that the interface is open. For tests only: 512 bits are no protection. */
const BITS = 512;
const N_BYTES = BITS / 8;
const CIPHERTEXT_BYTES = 3 * N_BYTES;

interface PaillierCiphertext {
  readonly n: bigint;
  readonly value: bigint;
}

/** Messages are integers of small absolute value, kept modulo n. */
export const paillier: AdditiveScheme<number, PaillierKey, PrivateKey, PaillierCiphertext> = {
  id: `paillier ${BITS}`,
  hidesRerandomizations: true,
  // paillier-bigint finds its primes with its own generator; the suite asks for fresh keys only.
  generateKeys: () => {
    const { publicKey, privateKey } = generateRandomKeysSync(BITS, true);
    return { publicKey, secretKey: privateKey };
  },
  generateSecretKey: () => generateRandomKeysSync(BITS, true).privateKey,
  encrypt: (publicKey, message, random) => ({
    n: publicKey.n,
    value: publicKey.encrypt(modulo(BigInt(message), publicKey.n), 1n + uniformBelowBig(random, publicKey.n - 1n)),
  }),
  rerandomize: (publicKey, ciphertext, random) => paillier.add(ciphertext, paillier.encrypt(publicKey, 0, random)),
  decrypt: (secretKey, { value }) => {
    const residue = secretKey.decrypt(value);
    return Number(2n * residue > secretKey.n ? residue - secretKey.n : residue);
  },
  ciphertextBytes: CIPHERTEXT_BYTES,
  publicKeyBytes: N_BYTES,
  encode: ({ n, value }) => toBytes((n << BigInt(2 * BITS)) | value, CIPHERTEXT_BYTES),
  decode: (bytes) => {
    const number = fromBytes(bytes, CIPHERTEXT_BYTES);
    const n = checkModulus(number >> BigInt(2 * BITS));
    const value = number & ((1n << BigInt(2 * BITS)) - 1n);
    if (value === 0n || value >= n * n) throw new LetheError("bad-encoding", "not a residue modulo n²");
    return { n, value };
  },
  encodePublicKey: ({ n }) => toBytes(n, N_BYTES),
  decodePublicKey: (bytes) => {
    const n = checkModulus(fromBytes(bytes, N_BYTES));
    return new PaillierKey(n, n + 1n);
  },
  add: (left, right) => ({ n: left.n, value: new PaillierKey(left.n, left.n + 1n).addition(left.value, right.value) }),
  scale: (factor, { n, value }) => ({
    n,
    value: new PaillierKey(n, n + 1n).multiply(value, modulo(BigInt(factor), n)),
  }),
};

function modulo(value: bigint, n: bigint): bigint {
  return ((value % n) + n) % n;
}

function checkModulus(n: bigint): bigint {
  if (n >> BigInt(BITS - 1) !== 1n || n % 2n === 0n) {
    throw new LetheError("bad-encoding", `not an odd modulus of ${BITS} bits`);
  }
  return n;
}

function toBytes(value: bigint, length: number): Uint8Array {
  return Uint8Array.from(
    value
      .toString(16)
      .padStart(2 * length, "0")
      .match(/../g) ?? [],
    (hex) => parseInt(hex, 16),
  );
}

function fromBytes(bytes: Uint8Array, length: number): bigint {
  if (bytes.length !== length) throw new LetheError("bad-encoding", `${bytes.length} bytes instead of ${length}`);
  return BigInt(`0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`);
}
