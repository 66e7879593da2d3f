/** How much of a version is searched byte by byte, from its beginning and from its end. */
const STRIP_BYTES = 16_384;
const MOST_VERSIONS = 4;
const BYTE = 255;
const BITS: readonly number[] = Array.from({ length: 8 }, (_, bit) => 1 << bit);

/**
 * The beginnings of the last versions, and their ends backwards: a byte at a fixed place is at a fixed place in one of
 * these.
 */
export function stripsOf(versions: readonly Uint8Array[]): Uint8Array[] {
  return versions
    .slice(-MOST_VERSIONS)
    .toReversed()
    .flatMap((bytes) => [bytes.slice(0, STRIP_BYTES), bytes.slice(-STRIP_BYTES).reverse()]);
}

/** The place where two sets of devices differ most, by their strips. */
export interface TellingPlace {
  /** The value at the place, for each device; -1 if a device has no such place. */
  readonly a: readonly number[];
  readonly b: readonly number[];
  /** How many places were searched. */
  readonly places: number;
  /** The place in words; absent if there is no place at all. */
  readonly where?: string;
}

type Strips = readonly Uint8Array[];

/** Finds the byte, or the bit, whose best threshold has the largest advantage. */
export function findTellingPlace(
  what: "one byte" | "one bit",
  a: readonly Strips[],
  b: readonly Strips[],
): TellingPlace {
  const [advantages, masks] = what === "one byte" ? [byteAdvantage, [BYTE]] : [bitAdvantages, BITS];
  let best: Place = { strip: 0, at: 0, mask: BYTE };
  let most = -1;
  let places = 0;
  const strips = [...a, ...b].reduce((count, { length }) => Math.max(count, length), 0);
  for (let strip = 0; strip < strips; strip++) {
    const stripsOfA = a.map((all) => all[strip] ?? NONE);
    const stripsOfB = b.map((all) => all[strip] ?? NONE);
    const length = [...stripsOfA, ...stripsOfB].reduce((longest, bytes) => Math.max(longest, bytes.length), 0);
    for (let at = 0; at < length; at++) {
      const found = advantages(stripsOfA, stripsOfB, at);
      for (const [i, mask] of masks.entries()) {
        const advantage = Math.abs(found[i] as number);
        if (advantage > most) [best, most] = [{ strip, at, mask }, advantage];
      }
    }
    places += length * masks.length;
  }
  const valueIn = (all: Strips): number => {
    const byte = all[best.strip]?.[best.at];
    return byte === undefined ? -1 : byte & best.mask;
  };
  return { a: a.map(valueIn), b: b.map(valueIn), places, ...(places > 0 && { where: describePlace(best) }) };
}

interface Place {
  readonly strip: number;
  readonly at: number;
  readonly mask: number;
}

/** Follows the order of `stripsOf`: the last file first, and of each file its beginning before its end. */
function describePlace({ strip, at, mask }: Place): string {
  const file = ["the last file", "the last file but one", "the last file but two", "the last file but three"][
    strip >> 1
  ];
  const byte = strip % 2 === 0 ? `the byte at offset ${at} of ${file}` : `byte ${at + 1} from the end of ${file}`;
  return mask === BYTE ? byte : `bit ${BITS.indexOf(mask)} of ${byte}`;
}

const NONE = new Uint8Array();
// Counted in pairs of devices, so that all sums are whole numbers. The first of 257 values is "no such place".
const excess = new Int32Array(257);
const largest = new Int32Array(1);
const bits = new Int32Array(BITS.length);

/** The advantage of the best threshold on a byte. */
function byteAdvantage(a: Strips, b: Strips, at: number): Int32Array {
  excess.fill(0);
  const add = (bytes: Uint8Array, weight: number): void => {
    const value = at < bytes.length ? (bytes[at] as number) + 1 : 0;
    excess[value] = (excess[value] as number) + weight;
  };
  for (const bytes of a) add(bytes, b.length);
  for (const bytes of b) add(bytes, -a.length);
  let sum = 0;
  let most = 0;
  for (let value = 0; value < excess.length; value++) {
    sum += excess[value] as number;
    most = Math.max(most, Math.abs(sum));
  }
  largest[0] = most;
  return largest;
}

/** The advantage of each bit. */
function bitAdvantages(a: Strips, b: Strips, at: number): Int32Array {
  bits.fill(0);
  const add = (bytes: Uint8Array, weight: number): void => {
    const byte = at < bytes.length ? (bytes[at] as number) : 0;
    for (let bit = 0; bit < bits.length; bit++) {
      if ((byte >> bit) & 1) bits[bit] = (bits[bit] as number) + weight;
    }
  };
  for (const bytes of a) add(bytes, b.length);
  for (const bytes of b) add(bytes, -a.length);
  return bits;
}
