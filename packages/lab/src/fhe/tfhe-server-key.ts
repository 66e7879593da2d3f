import { createCipheriv } from "node:crypto";

/**
 * The content of a compressed server key of TFHE-rs's boolean part, expanded. Words are 32 bits, the torus in units of
 * 2⁻³². A row of either list is a mask followed by a body; rows with finer digits come before those with coarser ones.
 */
export interface BooleanServerKey {
  /** n, the length of the masks of ciphertexts. */
  readonly lweDimension: number;
  /** k and N: ciphertexts of the larger kind are k+1 polynomials of N coefficients. */
  readonly glweDimension: number;
  readonly polynomialSize: number;
  /** For every bit of the small key, `levels`·(k+1) rows of k+1 polynomials. */
  readonly bootstrapping: DecomposedKey;
  /** For every bit of the large key, `levels` rows of n+1 words. */
  readonly switching: DecomposedKey;
}

interface DecomposedKey {
  readonly baseLog: number;
  readonly levels: number;
  readonly rows: Uint32Array;
}

/**
 * Decodes a key as version 1.7 of node-tfhe writes it: for each list its length and bodies, its dimensions, and the
 * seed of its masks, eight bytes per number. Throws if something does not fit: another version may write another
 * format.
 */
export function decodeServerKey(bytes: Uint8Array): BooleanServerKey {
  const read = createReader(bytes);
  const bootstrappingBodies = read.words();
  const glweSize = read.number();
  const polynomialSize = read.number();
  const [bootstrappingBase, bootstrappingLevels] = [read.number(), read.number()];
  const bootstrappingSeed = read.seed();
  const switchingBodies = read.words();
  const [switchingBase, switchingLevels] = [read.number(), read.number()];
  const lweSize = read.number();
  const switchingSeed = read.seed();
  const rowsPerBit = bootstrappingLevels * glweSize;
  const lweDimension = lweSize - 1;
  const expected = lweDimension * rowsPerBit * polynomialSize;
  const expectedSwitching = (glweSize - 1) * polynomialSize * switchingLevels;
  if (bootstrappingBodies.length !== expected || switchingBodies.length !== expectedSwitching) {
    throw new RangeError("this version of node-tfhe writes server keys in another way; 1.7 is known to work");
  }
  return {
    lweDimension,
    glweDimension: glweSize - 1,
    polynomialSize,
    bootstrapping: {
      baseLog: bootstrappingBase,
      levels: bootstrappingLevels,
      rows: withMasks(bootstrappingBodies, polynomialSize, (glweSize - 1) * polynomialSize, bootstrappingSeed),
    },
    switching: {
      baseLog: switchingBase,
      levels: switchingLevels,
      rows: withMasks(switchingBodies, 1, lweDimension, switchingSeed),
    },
  };
}

/** Before each body, its mask. */
function withMasks(bodies: Uint32Array, bodyLength: number, maskLength: number, seed: Uint8Array): Uint32Array {
  const count = bodies.length / bodyLength;
  const masks = maskWords(seed, count * maskLength);
  const rows = new Uint32Array(masks.length + bodies.length);
  for (let i = 0; i < count; i++) {
    const start = i * (maskLength + bodyLength);
    rows.set(masks.subarray(i * maskLength, (i + 1) * maskLength), start);
    rows.set(bodies.subarray(i * bodyLength, (i + 1) * bodyLength), start + maskLength);
  }
  return rows;
}

/** AES-128 under the seed, of 0, 1, 2, …, little-endian. Node's counter mode counts big-endian. */
function maskWords(seed: Uint8Array, length: number): Uint32Array {
  const blocks = Math.ceil(length / 4);
  const counters = new Uint32Array(4 * blocks);
  for (let i = 0; i < blocks; i++) counters[4 * i] = i;
  const cipher = createCipheriv("aes-128-ecb", seed, null).setAutoPadding(false);
  const stream = cipher.update(new Uint8Array(counters.buffer));
  return new Uint32Array(stream.buffer.slice(stream.byteOffset, stream.byteOffset + 4 * length));
}

function createReader(bytes: Uint8Array) {
  const SEED_BYTES = 16;
  /** Where in the stream to begin, always 0; then the modulus, 0 for 2³², and its bits. */
  const AFTER_SEED = 24 + 16 + 8;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  const number = (): number => {
    at += 8;
    return Number(view.getBigUint64(at - 8, true));
  };
  return {
    number,
    words: (): Uint32Array => {
      const length = number();
      at += 4 * length;
      return new Uint32Array(bytes.slice(at - 4 * length, at).buffer);
    },
    seed: (): Uint8Array => {
      // The kind of seed comes first, four bytes.
      const start = at + 4;
      at = start + SEED_BYTES + AFTER_SEED;
      return bytes.slice(start, start + SEED_BYTES);
    },
  };
}
