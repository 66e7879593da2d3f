import { type CompactFormat, sizeOf } from "./compact.ts";
import { failureBound, type Gains, LARGEST_LOG2_FAILURE } from "./failure-bound.ts";
import { gainsOf, type NoiseHistory } from "./noise-history.ts";
import { LATTICE_SETS, type LatticeParameters, LONGEST, modulusBits, plaintextLimit } from "./parameters.ts";

/** What a statistic needs of a ciphertext. */
export interface LatticeNeed extends NoiseHistory {
  readonly plaintextBits: number;
  /** Slots it must have. */
  readonly slots: number;
  /** Slots that the receiver reads; all N if absent. */
  readonly reads?: readonly number[];
  /** The least log₂ q. */
  readonly modulusBits?: number;
  /** What the user can lower if no set will do. */
  readonly toLower?: string;
}

/** Parameters with which a statistic decodes, and the format of what it sends. */
export interface LatticeChoice {
  readonly parameters: LatticeParameters;
  readonly plaintextBits: number;
  readonly format: CompactFormat;
  readonly log2Failure: number;
}

/**
 * The smallest parameter set and the shortest report for which every coefficient decodes wrongly with probability
 * below 2⁻⁴⁰. A need that no set meets is refused with a sentence that says what to lower.
 */
export function chooseLattice(need: LatticeNeed): LatticeChoice {
  checkNeed(need);
  if (need.slots > LONGEST) {
    throw new RangeError(
      `a ciphertext has at most ${LONGEST} slots and ${need.slots} are needed: lower ${need.toLower ?? "slots"}`,
    );
  }
  return chooseFor(need, gainsOf);
}

/** How the gains follow from a need: `flatGains`, or `gainsOf`, which devices load only if their task multiplies. */
type GainsOf = (parameters: LatticeParameters, history: NoiseHistory) => Gains;

/** For a need that a statistic has worked out from checked numbers, with at most `LONGEST` slots. */
export function chooseFor(need: LatticeNeed, gains: GainsOf): LatticeChoice {
  for (const parameters of LATTICE_SETS) {
    if (parameters.dimension < need.slots || plaintextLimit(parameters) < need.plaintextBits) continue;
    if (modulusBits(parameters) < (need.modulusBits ?? 0)) continue;
    const choice = shortestFormat(parameters, need, gains(parameters, need));
    if (choice !== undefined) return choice;
  }
  throw new RangeError(
    `no lattice parameter set decodes ${need.plaintextBits} bits a slot with ${need.encryptions} encryptions: ` +
      `lower ${need.toLower ?? "plaintextBits or encryptions"}`,
  );
}

function checkNeed({ plaintextBits, slots, encryptions, encryptionsAfter = 0, reads = [] }: LatticeNeed): void {
  const counts = { plaintextBits, slots, encryptions };
  for (const [name, value] of Object.entries(counts)) {
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new RangeError(`${name} is a whole number from 1 on, not ${value}`);
    }
  }
  if (!Number.isSafeInteger(encryptionsAfter) || encryptionsAfter < 0) {
    throw new RangeError(`encryptionsAfter is a whole number from 0 on, not ${encryptionsAfter}`);
  }
  if (reads.some((slot) => slot >= slots))
    throw new RangeError(`reads names a slot beyond the ${slots} that are needed`);
}

function shortestFormat(parameters: LatticeParameters, need: LatticeNeed, gains: Gains): LatticeChoice | undefined {
  const { plaintextBits } = need;
  const qBits = modulusBits(parameters);
  const bound = failureBound(parameters, plaintextBits, gains);
  const fits = (c0Bits: number, c1Bits: number) => bound({ c0Bits, c1Bits }) < LARGEST_LOG2_FAILURE;
  if (!fits(qBits, qBits)) return undefined;
  const reads = need.reads ?? Array.from({ length: parameters.dimension }, (_, i) => i);

  let best: LatticeChoice | undefined;
  let bestBytes = Number.POSITIVE_INFINITY;
  for (let c0Bits = plaintextBits + 1; c0Bits <= qBits; c0Bits++) {
    if (!fits(c0Bits, qBits)) continue;
    let c1Bits = plaintextBits + 1;
    while (!fits(c0Bits, c1Bits)) c1Bits++;
    const format = { c0Bits, c1Bits, reads };
    const bytes = sizeOf(parameters, format);
    if (bytes < bestBytes) {
      bestBytes = bytes;
      best = { parameters, plaintextBits, format, log2Failure: bound(format) };
    }
    // Longer c₀ from here on can save at most the rest of c₁.
    if (c1Bits === plaintextBits + 1) break;
  }
  return best;
}
