import type { RistrettoPoint } from "./ristretto.ts";
import { BASE, IDENTITY } from "./ristretto.ts";

/** Finds the integer m of a known range with m·G equal to the point, or undefined. */
export type DiscreteLog = (point: RistrettoPoint) => number | undefined;

/** Past this many entries (two megabytes or so) the table stops growing and giant steps take over. */
const LARGEST_TABLE = 1 << 13;
/** Beyond this a search takes minutes; a counter that wide belongs in the lattice scheme. */
const LARGEST_RANGE = 2 ** 40;

/**
 * Baby steps and giant steps over [minimum, maximum]: a table of j·G for j below about √range (all of the range
 * while it is small), then one addition and one encoding for every giant step. Its running time shows m; only
 * the server runs it, on values that are already differentially private.
 */
export function createDiscreteLog(minimum: number, maximum: number): DiscreteLog {
  const size = maximum - minimum + 1;
  if (!Number.isSafeInteger(minimum) || !Number.isSafeInteger(maximum) || size < 1 || size > LARGEST_RANGE) {
    throw new RangeError(`counters need whole bounds, at most 2^40 apart, not [${minimum}, ${maximum}]`);
  }
  const babySteps = Math.max(Math.min(size, LARGEST_TABLE), Math.ceil(Math.sqrt(size)));
  const table = new Map<string, number>();
  let multiple = IDENTITY;
  for (let j = 0; j < babySteps; j++) {
    table.set(multiple.toHex(), j);
    multiple = multiple.add(BASE);
  }
  const giantStep = multiple.negate();
  const shift = multiplyByInteger(BASE, -minimum);

  return (point) => {
    let rest = point.add(shift);
    for (let start = 0; start < size; start += babySteps) {
      const j = table.get(rest.toHex());
      if (j !== undefined) return start + j < size ? minimum + start + j : undefined;
      rest = rest.add(giantStep);
    }
    return undefined;
  };
}

/** factor·point for a public integer, zero and negative included. */
export function multiplyByInteger(point: RistrettoPoint, factor: number): RistrettoPoint {
  if (!Number.isSafeInteger(factor)) throw new RangeError(`a factor is a whole number, not ${factor}`);
  const product = factor === 0 ? IDENTITY : point.multiplyUnsafe(BigInt(Math.abs(factor)));
  return factor < 0 ? product.negate() : product;
}
