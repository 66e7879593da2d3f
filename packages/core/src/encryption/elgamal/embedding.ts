import { requireLength } from "../../error.ts";
import { decodePointOrStandIn, POINT_BYTES, type RistrettoPoint } from "./ristretto.ts";

/** Bytes that one group element carries. */
export const EMBEDDED_BYTES = 24;
/**
 * Two bytes of a counter, the data, and zeros, which keep the number below the prime and distinguish what was embedded
 * from what was not.
 */
const COUNTER_BYTES = 2;
const COUNTERS = 2 ** (8 * COUNTER_BYTES);

/**
 * The group element whose encoding is the bytes between the first counter that fits and zeros. Only even numbers can be
 * encodings, and of these one in four is. How many counters are tried depends on the bytes: it shows in time, and must
 * not say anything that the bytes may not.
 */
export function embed(data: Uint8Array): RistrettoPoint {
  requireLength("what is embedded in a group element", data, EMBEDDED_BYTES);
  const bytes = new Uint8Array(POINT_BYTES);
  bytes.set(data, COUNTER_BYTES);
  try {
    for (let counter = 0; counter < COUNTERS; counter += 2) {
      bytes[0] = counter;
      bytes[1] = counter >> 8;
      const { point, decoded } = decodePointOrStandIn(bytes);
      if (decoded) return point;
    }
  } finally {
    bytes.fill(0);
  }
  throw new RangeError("no counter makes these bytes a group element"); // one in 10⁴⁰⁰⁰
}

/** What is embedded in an element, given its encoding; the zeros of one in which nothing is are there with probability 2⁻⁴⁷. */
export function extract(element: Uint8Array): { readonly data: Uint8Array; readonly embedded: boolean } {
  const zeros = element.subarray(COUNTER_BYTES + EMBEDDED_BYTES).reduce((others, byte) => others | byte, 0);
  return { data: element.slice(COUNTER_BYTES, COUNTER_BYTES + EMBEDDED_BYTES), embedded: zeros === 0 };
}
