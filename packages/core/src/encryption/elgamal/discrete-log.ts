import { bytesToHex } from "@noble/curves/utils.js";
import type { RistrettoGroup } from "./group.ts";
import { BASE, IDENTITY, type RistrettoPoint } from "./ristretto.ts";

/** Finds the integer m of a known range with m·G equal to the element that is encoded, or undefined. */
export type DiscreteLog = (element: Uint8Array) => number | undefined;

/** Up to this many entries the table holds the whole range; a larger range has a table of its square root, or this. */
const SMALL_TABLE = 1 << 13;
/** Beyond this, table and search take seconds; a counter that wide belongs in the lattice scheme. */
const LARGEST_RANGE = 2 ** 32;

/**
 * Baby steps and giant steps over [minimum, maximum]: a table of the encodings of minimum·G, (minimum + 1)·G, … for about
 * √range integers (all of the range while it is small), then one addition and one encoding for every giant step. All
 * giant steps are taken, whether and wherever m is found; what is left to see are nanoseconds of table look-ups.
 */
export function createDiscreteLog(minimum: number, maximum: number, group: RistrettoGroup): DiscreteLog {
  const size = maximum - minimum + 1;
  if (!Number.isSafeInteger(minimum) || !Number.isSafeInteger(maximum) || size < 1 || size > LARGEST_RANGE) {
    throw new RangeError(`counters need whole bounds, at most 2^32 apart, not [${minimum}, ${maximum}]`);
  }
  const babySteps = Math.max(Math.min(size, SMALL_TABLE), Math.ceil(Math.sqrt(size)));
  const giantSteps = Math.ceil(size / babySteps);
  let tables: { readonly babySteps: Map<string, number>; readonly giantStep: Uint8Array } | undefined;

  return (element) => {
    // Only those who decrypt need them.
    tables ??= { babySteps: babyStepTable(), giantStep: multiplyByInteger(BASE, -babySteps).toBytes() };
    let found = Number.POSITIVE_INFINITY;
    for (const [i, rest] of group.walk(element, tables.giantStep, giantSteps).entries()) {
      const m = tables.babySteps.get(bytesToHex(rest));
      found = m === undefined ? found : m + i * babySteps;
    }
    return found <= maximum ? found : undefined;
  };

  function babyStepTable(): Map<string, number> {
    const multiples = group.walk(multiplyByInteger(BASE, minimum).toBytes(), BASE.toBytes(), babySteps);
    return new Map(multiples.map((multiple, j) => [bytesToHex(multiple), minimum + j]));
  }
}

/** factor·point for a public integer, zero and negative included. */
export function multiplyByInteger(point: RistrettoPoint, factor: number): RistrettoPoint {
  if (!Number.isSafeInteger(factor)) throw new RangeError(`a factor is a whole number, not ${factor}`);
  const product = factor === 0 ? IDENTITY : point.multiplyUnsafe(BigInt(Math.abs(factor)));
  return factor < 0 ? product.negate() : product;
}
