import { type LatticeCiphertext, phaseOpener } from "../src/encryption/lattice/ciphertext.ts";
import type { LatticePublicKey } from "../src/encryption/lattice/keys.ts";
import type { LatticeScheme } from "../src/encryption/lattice/lattice.ts";
import { coefficient } from "../src/encryption/lattice/limbs.ts";
import { LATTICE_SETS, modulusBits } from "../src/encryption/lattice/parameters.ts";
import { ringOf } from "../src/encryption/lattice/ring.ts";

/** What the key holder sees of an encryption of zeros: c₁ + c₀·s, centred. */
export function noiseOf(
  scheme: LatticeScheme,
  secretKey: ReturnType<LatticeScheme["generateSecretKey"]>,
): (ciphertext: LatticeCiphertext) => Float64Array {
  const N = scheme.parameters.dimension;
  const q = 2 ** modulusBits(scheme.parameters);
  const openPhase = phaseOpener(ringOf(scheme.parameters));
  return (ciphertext: LatticeCiphertext): Float64Array => {
    const phase = openPhase(secretKey, ciphertext);
    return new Float64Array(N).map((_, i) => {
      const value = coefficient(scheme.parameters, phase, i);
      return value >= q / 2 ? value - q : value;
    });
  };
}

/** a itself: what c₀ becomes for u = 1 without errors. */
export function expandedA(publicKey: LatticePublicKey): Int32Array {
  const ring = ringOf(LATTICE_SETS[0]);
  const a = ring.zero();
  const one = new Int32Array(1024);
  one[0] = 1;
  ring.addProduct(a, publicKey.aSpectra, ring.transformSmall(one));
  return a;
}
