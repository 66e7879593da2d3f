import { createNegacyclicFft } from "@lethe/core/encryption";
import type { BooleanServerKey } from "./tfhe-server-key.ts";

/** 1/8 of the torus, which stands for true; −1/8 for false. */
const EIGHTH = 2 ** 29;
/** A serialized boolean ciphertext: its kind and length, then mask and body. */
const HEADER_BYTES = 12;

/**
 * TFHE's OR gate on serialized ciphertexts, which node-tfhe, made for clients, leaves out. The sign of the sum of both
 * is the answer; the sum is bootstrapped and switched back to the small key [CGGI20]. The result is as noisy as a fresh
 * ciphertext, whatever the inputs were, so a state can pass any number of gates.
 *
 * [CGGI20] Chillotti, Gama, Georgieva, Izabachène, TFHE: Fast Fully Homomorphic Encryption over the Torus, 2020.
 */
export function createOr(key: BooleanServerKey): (left: Uint8Array, right: Uint8Array) => Uint8Array {
  const bootstrap = createSignBootstrap(key);
  return (left, right) => {
    const [a, b] = [wordsOf(left, key), wordsOf(right, key)];
    const sum = a.map((word, i) => word + (b[i] as number));
    sum[key.lweDimension] = (sum[key.lweDimension] as number) + EIGHTH;
    const result = left.slice();
    result.set(new Uint8Array(switchKey(key, bootstrap(sum)).buffer), HEADER_BYTES);
    return result;
  };
}

function wordsOf(ciphertext: Uint8Array, { lweDimension }: BooleanServerKey): Int32Array {
  return new Int32Array(ciphertext.slice(HEADER_BYTES, HEADER_BYTES + 4 * (lweDimension + 1)).buffer);
}

/** An encryption, under the large key, of 1/8 if what is encrypted is between 0 and 1/2, else of −1/8. */
function createSignBootstrap(key: BooleanServerKey): (ciphertext: Int32Array) => Int32Array {
  const { lweDimension, glweDimension, polynomialSize } = key;
  const addProduct = createExternalProduct(key);
  // Rounded to 2N steps of the torus.
  const step = (word: number): number => Math.round((word >>> 0) / (2 ** 32 / (2 * polynomialSize)));
  return (ciphertext) => {
    const polynomial = (): Int32Array => new Int32Array(polynomialSize);
    const lookup = polynomial().fill(EIGHTH);
    const mask = Array.from({ length: glweDimension }, polynomial);
    const body = rotated(lookup, -step(ciphertext[lweDimension] as number));
    const accumulator = [...mask, body];
    for (let i = 0; i < lweDimension; i++) {
      const by = step(ciphertext[i] as number);
      const difference = accumulator.map((part) => rotated(part, by).map((word, j) => word - (part[j] as number)));
      addProduct(accumulator, difference, i);
    }
    return constantTerm(accumulator);
  };
}

/** X^by times a polynomial, modulo X^N + 1. */
function rotated(polynomial: Int32Array, by: number): Int32Array {
  const size = polynomial.length;
  const turn = ((by % (2 * size)) + 2 * size) % (2 * size);
  const result = new Int32Array(size);
  for (let i = 0; i < size; i++) {
    const to = (i + turn) % (2 * size);
    if (to < size) result[to] = polynomial[i] as number;
    else result[to - size] = -(polynomial[i] as number);
  }
  return result;
}

/** Adds bit i of the small key times the difference, under encryption, to the accumulator. */
function createExternalProduct({ bootstrapping, glweDimension, polynomialSize: size }: BooleanServerKey) {
  const { baseLog, levels, rows } = bootstrapping;
  const fft = createNegacyclicFft(size);
  const parts = glweDimension + 1;
  const spectra = transformed(rows, size);
  const digits = Array.from({ length: levels }, () => new Float64Array(size));
  const sums = Array.from({ length: parts }, () => new Float64Array(size));
  return (accumulator: readonly Int32Array[], difference: readonly Int32Array[], i: number): void => {
    for (const sum of sums) sum.fill(0);
    for (const [j, polynomial] of difference.entries()) {
      decompose(polynomial, baseLog, digits);
      for (const [level, digit] of digits.entries()) {
        fft.forward(digit);
        const row = ((i * levels + level) * parts + j) * parts * size;
        for (const [part, sum] of sums.entries()) addPointwise(sum, digit, spectra, row + part * size);
      }
    }
    for (const [part, sum] of sums.entries()) {
      fft.inverse(sum);
      const into = accumulator[part] as Int32Array;
      // The transform is off by far less than the noise; what exceeds 32 bits wraps around the torus.
      for (let x = 0; x < size; x++) into[x] = (into[x] as number) + Math.round(sum[x] as number);
    }
  };
}

/** Every polynomial of the key, divided by N/2 as the inverse transform wants it. */
function transformed(rows: Uint32Array, size: number): Float64Array {
  const fft = createNegacyclicFft(size);
  const spectra = Float64Array.from(new Int32Array(rows.buffer));
  for (let start = 0; start < spectra.length; start += size) {
    const polynomial = spectra.subarray(start, start + size);
    for (let x = 0; x < size; x++) polynomial[x] = (polynomial[x] as number) / (size / 2);
    fft.forward(polynomial);
  }
  return spectra;
}

/** Complex, real parts in the first half. */
function addPointwise(sum: Float64Array, digit: Float64Array, spectra: Float64Array, start: number): void {
  const half = sum.length / 2;
  for (let x = 0; x < half; x++) {
    const ar = digit[x] as number;
    const ai = digit[x + half] as number;
    const br = spectra[start + x] as number;
    const bi = spectra[start + x + half] as number;
    sum[x] = (sum[x] as number) + ar * br - ai * bi;
    sum[x + half] = (sum[x + half] as number) + ar * bi + ai * br;
  }
}

/** Signed digits in base 2^baseLog of the words' leading bits, rounded; the finest first, as in the keys. */
function decompose(words: Int32Array, baseLog: number, digits: readonly (Float64Array | Int32Array)[]): void {
  const base = 1 << baseLog;
  const dropped = 32 - baseLog * digits.length;
  // Half of the base added at every place, and taken off every digit, makes them signed without carrying.
  const halves = digits.reduce((sum, _, level) => sum + (base / 2) * base ** level, 0);
  for (const [level, digit] of digits.entries()) {
    for (let x = 0; x < words.length; x++) {
      const rounded = (((words[x] as number) >> (dropped - 1)) + 1) >> 1;
      digit[x] = (((rounded + halves) >> (level * baseLog)) & (base - 1)) - base / 2;
    }
  }
}

/** Of what a polynomial ciphertext encrypts, the constant term alone. */
function constantTerm(parts: readonly Int32Array[]): Int32Array {
  const size = parts[0]?.length ?? 0;
  const masks = parts.slice(0, -1);
  const result = new Int32Array(masks.length * size + 1);
  for (const [j, mask] of masks.entries()) {
    result[j * size] = mask[0] as number;
    for (let x = 1; x < size; x++) result[j * size + x] = -(mask[size - x] as number);
  }
  result[masks.length * size] = parts.at(-1)?.[0] as number;
  return result;
}

/** The same under the small key. */
function switchKey({ lweDimension, switching }: BooleanServerKey, ciphertext: Int32Array): Int32Array {
  const { baseLog, levels, rows } = switching;
  const last = ciphertext.length - 1;
  const digits = Array.from({ length: levels }, () => new Int32Array(last));
  decompose(ciphertext.subarray(0, last), baseLog, digits);
  const result = new Int32Array(lweDimension + 1);
  result[lweDimension] = ciphertext[last] as number;
  for (let i = 0; i < last; i++) {
    for (const [level, digit] of digits.entries()) {
      const factor = digit[i] as number;
      const start = (i * levels + level) * (lweDimension + 1);
      for (let x = 0; x <= lweDimension; x++) {
        result[x] = (result[x] as number) - Math.imul(factor, rows[start + x] as number);
      }
    }
  }
  return result;
}
