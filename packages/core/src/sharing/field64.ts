/**
 * The field of 2⁶⁴ − 2³² + 1 elements, on pairs of 32-bit words, low word first, in typed arrays: `BigInt` would be ten
 * times slower and takes time that depends on the value. Every operation reads elements at given places and writes one
 * at a place, which may be the same; all are below the modulus, before and after.
 */
export type Elements = Uint32Array;

/** Words of an element. */
export const WORDS = 2;
/** The length of an encoded element. */
export const ELEMENT_BYTES = 8;

const MOST = 0xffff_ffff;

/** out[o] = a[i] + b[j]. */
export function add(out: Elements, o: number, a: Elements, i: number, b: Elements, j: number): void {
  const low = (a[i] as number) + (b[j] as number);
  const high = (a[i + 1] as number) + (b[j + 1] as number) + carry(low);
  reduceOnce(out, o, low >>> 0, high);
}

/** out[o] = a[i] − b[j]. */
export function subtract(out: Elements, o: number, a: Elements, i: number, b: Elements, j: number): void {
  const low = (a[i] as number) - (b[j] as number);
  const borrow = Number(low < 0);
  const high = (a[i + 1] as number) - (b[j + 1] as number) - borrow;
  // If it is below zero the modulus is added, which is the same as subtracting 2³² − 1 from what is left modulo 2⁶⁴.
  const isNegative = Number(high < 0);
  const lowest = (low >>> 0) + isNegative;
  out[o] = lowest;
  out[o + 1] = high - isNegative + carry(lowest);
}

/** out[o] = a[i]·b[j]. */
export function multiply(out: Elements, o: number, a: Elements, i: number, b: Elements, j: number): void {
  const a0 = a[i] as number;
  const a1 = a[i + 1] as number;
  const b0 = b[j] as number;
  const b1 = b[j + 1] as number;
  const p00 = Math.imul(a0, b0) >>> 0;
  const p01 = Math.imul(a0, b1) >>> 0;
  const p10 = Math.imul(a1, b0) >>> 0;
  const p11 = Math.imul(a1, b1) >>> 0;
  const middle = highWord(a0, b0, p00) + p01 + p10;
  const upper = highWord(a0, b1, p01) + highWord(a1, b0, p10) + p11 + ((middle * PER_WORD) >>> 0);
  const w2 = upper >>> 0;
  const w3 = highWord(a1, b1, p11) + ((upper * PER_WORD) >>> 0);
  // 2⁶⁴ = 2³² − 1 and 2⁹⁶ = −1: the words are w0 − w2 − w3 and w1 + w2.
  const low = p00 - w2 - w3;
  const lowest = low >>> 0;
  const high = (middle >>> 0) + w2 + Math.floor(low * PER_WORD);
  normalize(out, o, lowest, high);
}

const PER_WORD = 2 ** -32;

/**
 * The high word of a product of two words whose low word is known. The product as a double is off by at most 2¹¹, so
 * what is left of it without the low word is the high word times 2³², up to 2¹¹: rounding finds it.
 */
function highWord(a: number, b: number, low: number): number {
  return ((a * b - low) * PER_WORD + 0.5) >>> 0;
}

/** x/2, which is (x + the modulus)/2 for an odd x. */
export function halve(out: Elements, o: number, a: Elements, i: number): void {
  const isOdd = (a[i] as number) & 1;
  const low = (a[i] as number) + isOdd;
  const high = (a[i + 1] as number) + isOdd * MOST + carry(low);
  const lowestOfHigh = high & 1;
  out[o] = ((low >>> 0) >>> 1) | (lowestOfHigh << 31);
  out[o + 1] = (high - lowestOfHigh) / 2;
}

const carry = (low: number): number => Number(low > MOST);

/** Of less than twice the modulus. */
function reduceOnce(out: Elements, o: number, low: number, high: number): void {
  const isTooLarge = Number(high > MOST || (high === MOST && low > 0));
  // Less the modulus: more by 2³² − 1, modulo 2⁶⁴.
  const lowest = low - isTooLarge;
  out[o] = lowest;
  out[o + 1] = high + isTooLarge - Number(lowest < 0);
}

/** Where the high word is anything from −2 to twice a word. */
function normalize(out: Elements, o: number, low: number, high: number): void {
  const isNegative = Number(high < 0);
  // The modulus more, if it is below zero.
  const lowest = low + isNegative;
  const highest = high + isNegative * MOST + carry(lowest);
  reduceOnce(out, o, lowest >>> 0, highest);
}

/** False if the bytes, low one first, are not an element. */
export function read(out: Elements, o: number, bytes: Uint8Array, at: number): boolean {
  const word = (from: number): number =>
    ((bytes[from] as number) |
      ((bytes[from + 1] as number) << 8) |
      ((bytes[from + 2] as number) << 16) |
      ((bytes[from + 3] as number) << 24)) >>>
    0;
  return place(out, o, word(at), word(at + 4));
}

/** False if the two words, signed or not, are not an element. */
export function place(out: Elements, o: number, low: number, high: number): boolean {
  out[o] = low;
  out[o + 1] = high;
  return high >>> 0 < MOST || low === 0;
}

/** Writes an element to bytes, little-endian. */
export function write(a: Elements, i: number, bytes: Uint8Array, at: number): void {
  for (let w = 0; w < WORDS; w++) {
    const word = a[i + w] as number;
    for (let b = 0; b < 4; b++) bytes[at + 4 * w + b] = word >>> (8 * b);
  }
}

/** Whether a[i] = b[j]. */
export function isEqual(a: Elements, i: number, b: Elements, j: number): boolean {
  return (((a[i] as number) ^ (b[j] as number)) | ((a[i + 1] as number) ^ (b[j + 1] as number))) === 0;
}
