/**
 * Ristretto255 on libsodium, compiled to WebAssembly: constant-time, and about ten times as fast as JavaScript. Servers
 * open reports and make keys with it; devices never load it, because the policies of pages may forbid WebAssembly. This
 * folder may import core only.
 */
import type { RistrettoGroup, Unmasked } from "@lethe/core/encryption";
import { LetheError } from "@lethe/core/error";
import load, { type Sodium } from "libsodium-sumo";

const BYTES = 32;
const WIDE_BYTES = 64;
/** 2·G: takes the place of an element with which the same work would take less time. */
const STAND_IN = Buffer.from("6a493210f7499cd17fecb510ae0cea23a110e8d5b901f8acadd3095c73a3b919", "hex");
const IDENTITY = new Uint8Array(BYTES);
/** A scalar that is not secret: multiplying by it overwrites what was left of one that is. */
const ONE = new Uint8Array(BYTES).fill(1, 0, 1);

/** The group on a new instance of libsodium, for one thread. */
export async function loadRistretto(): Promise<RistrettoGroup> {
  return createRistretto(await load());
}

/**
 * The group on an instance of libsodium. We call the compiled functions directly, because the usual wrappers allocate and
 * copy at every call. Scalars and products are at fixed places of the instance's memory, and are overwritten before a
 * call returns.
 */
export function createRistretto(sodium: Sodium): RistrettoGroup {
  const heap = sodium.HEAPU8;
  const start = sodium._malloc(WIDE_BYTES + 4 * BYTES);
  const [wide, scalar, ephemeral, element, product] = [
    start,
    ...Array.from({ length: 4 }, (_, i) => start + WIDE_BYTES + i * BYTES),
  ] as [number, number, number, number, number];
  const bytesAt = (place: number): Uint8Array => heap.slice(place, place + BYTES);
  const clear = (): void => void heap.fill(0, start, start + WIDE_BYTES + 4 * BYTES);

  /** Puts an element in its place, or the stand-in if the bytes encode none; a square root is taken either way. */
  function place(bytes: Uint8Array, at: number): boolean {
    const isCanonical = isCanonicalNumber(bytes);
    heap.set(isCanonical ? bytes : STAND_IN, at);
    const isElement = sodium._crypto_core_ristretto255_is_valid_point(at) === 1;
    heap.set(isElement ? heap.subarray(at, at + BYTES) : STAND_IN, at);
    return isCanonical && isElement;
  }

  function unmask(scalars: readonly Uint8Array[], bytes: Uint8Array): Unmasked {
    if (bytes.length !== (1 + scalars.length) * BYTES) {
      throw new LetheError(
        "bad-encoding",
        `a ciphertext has ${bytes.length} bytes, not ${(1 + scalars.length) * BYTES}`,
      );
    }
    try {
      let decoded = place(bytes.subarray(0, BYTES), ephemeral);
      // libsodium refuses a product that is 0·G.
      const isTrivial = isZero(bytes.subarray(0, BYTES));
      if (isTrivial) heap.set(STAND_IN, ephemeral);
      const elements = scalars.map((secret, i) => {
        heap.set(secret, scalar);
        required(sodium._crypto_scalarmult_ristretto255(product, scalar, ephemeral));
        heap.set(isTrivial ? IDENTITY : heap.subarray(product, product + BYTES), product);
        decoded = place(bytes.subarray((i + 1) * BYTES, (i + 2) * BYTES), element) && decoded;
        required(sodium._crypto_core_ristretto255_sub(product, element, product));
        return bytesAt(product);
      });
      return { elements, decoded, isTrivial };
    } finally {
      clear();
    }
  }

  function walk(from: Uint8Array, step: Uint8Array, count: number): Uint8Array[] {
    if (count > 1) heap.set(step, element);
    heap.set(from, product);
    const encodings = [from];
    while (encodings.length < count) {
      if (sodium._crypto_core_ristretto255_add(product, product, element) !== 0) throw noElement();
      encodings.push(bytesAt(product));
    }
    clear();
    return encodings;
  }

  function subtract(left: Uint8Array, right: Uint8Array): Uint8Array {
    heap.set(left, element);
    heap.set(right, product);
    if (sodium._crypto_core_ristretto255_sub(product, element, product) !== 0) throw noElement();
    const difference = bytesAt(product);
    clear();
    return difference;
  }

  return {
    reduce: (bytes) => {
      heap.set(bytes, wide);
      heap.subarray(wide, wide + WIDE_BYTES).reverse();
      sodium._crypto_core_ristretto255_scalar_reduce(scalar, wide);
      const reduced = bytesAt(scalar);
      clear();
      return reduced;
    },
    multiplyBase: (secret) => {
      heap.set(secret, scalar);
      required(sodium._crypto_scalarmult_ristretto255_base(product, scalar));
      const publicKey = bytesAt(product);
      clear();
      return publicKey;
    },
    unmask,
    walk,
    subtract,
    // What the compiled functions leave on their stack is at the same places after every call.
    wipe: () => {
      heap.set(ONE, scalar);
      heap.set(STAND_IN, ephemeral);
      required(sodium._crypto_scalarmult_ristretto255(product, scalar, ephemeral));
      required(sodium._crypto_scalarmult_ristretto255_base(product, scalar));
      heap.fill(0xff, wide, wide + WIDE_BYTES);
      sodium._crypto_core_ristretto255_scalar_reduce(scalar, wide);
      clear();
    },
  };
}

function noElement(): LetheError {
  return new LetheError("bad-encoding", "these bytes are not the encoding of a group element");
}

function required(status: number): void {
  if (status !== 0) throw new TypeError("a scalar is 32 bytes, not zero and below the order of the group");
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.reduce((others, byte) => others | byte, 0) === 0;
}

/** What libsodium looks at before the square root: below the prime 2²⁵⁵ − 19, and not "negative", which odd numbers are. */
function isCanonicalNumber(bytes: Uint8Array): boolean {
  let ones = 0xff;
  for (let i = 1; i < BYTES - 1; i++) ones &= bytes[i] as number;
  const [first, last] = [bytes[0] as number, bytes[BYTES - 1] as number];
  const isAtLeastPrime = ones === 0xff && last === 0x7f && first >= 0xed;
  return last < 0x80 && !isAtLeastPrime && (first & 1) === 0;
}
