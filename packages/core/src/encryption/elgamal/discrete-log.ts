import type { RistrettoPoint } from "./ristretto.ts";
import { BASE, IDENTITY } from "./ristretto.ts";

/** Finds the integer m of a known range with m·G equal to the point, or undefined. */
export type DiscreteLog = (point: RistrettoPoint) => number | undefined;

/** Up to this many entries the table holds the whole range; a larger range has a table of its square root, or this. */
const SMALL_TABLE = 1 << 13;
/** Beyond this, table and search take seconds; a counter that wide belongs in the lattice scheme. */
const LARGEST_RANGE = 2 ** 32;

/**
 * Baby steps and giant steps over [minimum, maximum]: a table of j·G for j below about √range (all of the range
 * while it is small), then one addition and one encoding for every giant step. Its running time shows m; only
 * the server runs it, on values that are already differentially private.
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
    for (let start = 0; start < size; start += babySteps) {
      const j = table.get(rest.toHex());
      if (j !== undefined) return start + j < size ? minimum + start + j : undefined;
      rest = rest.add(giantStep);
    }
    return undefined;
  };
}

/** The encodings of 0·G, 1·G, … */
function babyStepTable(size: number): Map<string, number> {
  const table = new Map<string, number>();
  let multiple = IDENTITY;
  for (let j = 0; j < size; j++) {
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
