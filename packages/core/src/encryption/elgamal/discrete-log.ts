import type { RistrettoPoint } from "./ristretto.ts";
import { BASE, IDENTITY, STAND_IN } from "./ristretto.ts";

/** Finds the integer m of a known range with m·G equal to the point, or undefined. */
export type DiscreteLog = (point: RistrettoPoint) => number | undefined;

/** Up to this many entries the table holds the whole range; a larger range has a table of its square root, or this. */
const SMALL_TABLE = 1 << 13;
/** Beyond this, table and search take seconds; a counter that wide belongs in the lattice scheme. */
const LARGEST_RANGE = 2 ** 32;

/**
 * Baby steps and giant steps over [minimum, maximum]: a table of j·G for j below about √range (all of the range
 * while it is small), then one addition and one encoding for every giant step. All giant steps are taken, whether and
 * wherever m is found; what is left to see are nanoseconds of table look-ups and of JavaScript's integers.
 */
export function createDiscreteLog(minimum: number, maximum: number): DiscreteLog {
  const size = maximum - minimum + 1;
  if (!Number.isSafeInteger(minimum) || !Number.isSafeInteger(maximum) || size < 1 || size > LARGEST_RANGE) {
    throw new RangeError(`counters need whole bounds, at most 2^32 apart, not [${minimum}, ${maximum}]`);
  }
  const babySteps = Math.max(Math.min(size, SMALL_TABLE), Math.ceil(Math.sqrt(size)));
  const giantStep = multiplyByInteger(BASE, -babySteps);
  const shift = multiplyByInteger(BASE, -minimum);
  let table: Map<string, number> | undefined;

  return (point) => {
    table ??= babyStepTable(babySteps); // only those who decrypt need it
    let rest = point.add(shift);
    let found = Number.POSITIVE_INFINITY;
    for (let start = 0; start < size; start += babySteps) {
      // Encoding 0·G is faster, because its coordinates are zero.
      const isIdentity = rest.is0();
      const listed = table.get((isIdentity ? STAND_IN : rest).toHex());
      const j = isIdentity ? 0 : listed;
      found = j === undefined ? found : minimum + start + j;
      rest = rest.add(giantStep);
    }
    return found <= maximum ? found : undefined;
  };
}

/** The encodings of 1·G, 2·G, … below `size`. */
function babyStepTable(size: number): Map<string, number> {
  const table = new Map<string, number>();
  let multiple = BASE;
  for (let j = 1; j < size; j++) {
    table.set(multiple.toHex(), j);
    multiple = multiple.add(BASE);
  }
  return table;
}

/** factor·point for a public integer, zero and negative included. */
export function multiplyByInteger(point: RistrettoPoint, factor: number): RistrettoPoint {
  if (!Number.isSafeInteger(factor)) throw new RangeError(`a factor is a whole number, not ${factor}`);
  const product = factor === 0 ? IDENTITY : point.multiplyUnsafe(BigInt(Math.abs(factor)));
  return factor < 0 ? product.negate() : product;
}
