/** An endless stream of bytes; every call continues where the last one ended. */
export interface ByteStream {
  (into: Uint8Array): void;
  /** Overwrites the sponge, from whose state everything that went in could be computed backwards. */
  destroy(): void;
}

/** Bytes of the state that a block goes into or comes out of; the other 32 stay inside. */
const RATE = 168;

/** Keccak-p[1600, 12] of a state of 25 lanes, two words each, the low one first. */
export type Permutation = (state: Int32Array) => void;

/**
 * TurboSHAKE128 (RFC 9861, §2.2) of all parts, one after another. In our own code because a device loads as little as
 * it can: with noble's, to which the tests compare it, come its checks, its other hashes' class and, beside ElGamal,
 * all that these have in common.
 */
export function turboShake128(
  domain: number,
  parts: readonly Uint8Array[],
  permutation: Permutation = permute,
): ByteStream {
  const state = new Int32Array(50);
  // Like all machines that run JavaScript today, this one is little-endian.
  const bytes = new Uint8Array(state.buffer);
  let at = 0;

  function add(byte: number): void {
    bytes[at] = (bytes[at] as number) ^ byte;
    at++;
  }

  function nextBlock(): void {
    permutation(state);
    at = 0;
  }

  for (const part of parts) {
    for (let i = 0; i < part.length; i++) {
      add(part[i] as number);
      if (at === RATE) nextBlock();
    }
  }
  add(domain);
  at = RATE - 1;
  add(0x80);
  nextBlock();

  const squeeze = (into: Uint8Array): void => {
    for (let filled = 0; filled < into.length; ) {
      if (at === RATE) nextBlock();
      const taken = bytes.subarray(at, Math.min(RATE, at + into.length - filled));
      into.set(taken, filled);
      filled += taken.length;
      at += taken.length;
    }
  };
  return Object.assign(squeeze, { destroy: () => void state.fill(0) });
}

/**
 * The words of the constants of ι in the last 12 of Keccak's 24 rounds; of the high ones only the top bit is ever set.
 */
const LOW_CONSTANTS = [
  0x8000808b, 0x8b, 0x8089, 0x8003, 0x8002, 0x80, 0x800a, 0x8000000a, 0x80008081, 0x8080, 0x80000001, 0x80008008,
] as const;
/** Bit i is the top bit of round i's. */
const HIGH_CONSTANTS = 0b101110111110;

/** Where ρ and π take the lanes, beginning with the second, and by how many bits they rotate each on the way. */
const PLACES = new Uint8Array(24);
const ROTATIONS = new Uint8Array(24);
for (let t = 0, x = 1, y = 0; t < 24; t++) {
  [x, y] = [y, (2 * x + 3 * y) % 5];
  PLACES[t] = 2 * (x + 5 * y);
  ROTATIONS[t] = (((t + 1) * (t + 2)) / 2) % 64;
}

/** The parities of the columns, overwritten at the end. */
const parity = new Int32Array(10);

/**
 * Keccak-p[1600, 12] (FIPS 202, §3.3). A lane of 64 bits is two words, the low one first; lane x, y is at 2·(x + 5y).
 */
export function permute(s: Int32Array): void {
  for (let round = 0; round < 12; round++) {
    for (let x = 0; x < 10; x++) {
      parity[x] =
        (s[x] as number) ^
        (s[x + 10] as number) ^
        (s[x + 20] as number) ^
        (s[x + 30] as number) ^
        (s[x + 40] as number); // θ
    }
    for (let x = 0; x < 10; x += 2) {
      const left = (x + 8) % 10;
      const right = (x + 2) % 10;
      const low = (parity[left] as number) ^ rotated(parity[right] as number, parity[right + 1] as number, 1);
      const high = (parity[left + 1] as number) ^ rotated(parity[right + 1] as number, parity[right] as number, 1);
      for (let y = x; y < 50; y += 10) {
        s[y] = (s[y] as number) ^ low;
        s[y + 1] = (s[y + 1] as number) ^ high;
      }
    }
    let low = s[2] as number; // ρ and π
    let high = s[3] as number;
    for (let t = 0; t < 24; t++) {
      const to = PLACES[t] as number;
      const by = ROTATIONS[t] as number;
      const turnedLow = by < 32 ? rotated(low, high, by) : rotated(high, low, by);
      const turnedHigh = by < 32 ? rotated(high, low, by) : rotated(low, high, by);
      low = s[to] as number;
      high = s[to + 1] as number;
      s[to] = turnedLow;
      s[to + 1] = turnedHigh;
    }
    for (let y = 0; y < 50; y += 10) chi(s, y);
    s[0] = (s[0] as number) ^ (LOW_CONSTANTS[round] as number); // ι
    s[1] = (s[1] as number) ^ ((HIGH_CONSTANTS >> round) << 31);
  }
  parity.fill(0);
}

/** χ of the row at y. */
function chi(s: Int32Array, y: number): void {
  for (let x = y; x < y + 2; x++) {
    const a = s[x] as number;
    const b = s[x + 2] as number;
    const c = s[x + 4] as number;
    const d = s[x + 6] as number;
    const e = s[x + 8] as number;
    s[x] = a ^ (~b & c);
    s[x + 2] = b ^ (~c & d);
    s[x + 4] = c ^ (~d & e);
    s[x + 6] = d ^ (~e & a);
    s[x + 8] = e ^ (~a & b);
  }
}

/**
 * The word that takes in the top bits of the other when a lane is rotated left, by no multiple of 32. Shifts count
 * modulo 32.
 */
function rotated(word: number, other: number, by: number): number {
  return (word << by) | (other >>> -by);
}
