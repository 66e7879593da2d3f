import {
  type CompactFormat,
  createElGamalCounter,
  createLattice,
  decodeCompact,
  encodeCompact,
  LATTICE_SETS,
} from "@lethe/core/encryption";
import type { Target } from "../target.ts";
import { random } from "./fixtures.ts";

const [SET] = LATTICE_SETS;

/** Keys and ciphertexts of both schemes by themselves, without what is around them in a message. */
export function encryptionTargets(): Target[] {
  const counter = createElGamalCounter({ minimum: 0, maximum: 3 });
  const lattice = createLattice(SET, 4);
  const format: CompactFormat = { c0Bits: 12, c1Bits: 7, reads: [0, 1, 5, 9, 1000] };
  const { publicKey } = lattice.generateKeys(random);
  const slots = new Int32Array(SET.dimension).fill(3);
  const encrypted = [0, 1].map(() => lattice.encrypt(publicKey, slots, random));
  const elgamalKeys = [0, 1, 2].map(() => counter.generateKeys(random).publicKey);
  const bytes = (name: string, rest: Pick<Target, "covers" | "examples" | "run" | "inCi">): Target => {
    return { name, kind: "bytes", errors: ["bad-encoding"], ...rest };
  };
  return [
    bytes("ElGamal public key", {
      covers: ["decodePoint"],
      examples: elgamalKeys.map(counter.encodePublicKey),
      inCi: 2000,
      run: (input) => counter.encodePublicKey(counter.decodePublicKey(input)),
    }),
    bytes("ElGamal ciphertext", {
      covers: ["decodePoint"],
      examples: elgamalKeys.map((key) => counter.encode(counter.encrypt(key, 2, random))),
      inCi: 1500,
      run: (input) => counter.encode(counter.decode(input)),
    }),
    bytes("lattice public key", {
      covers: ["decodePublicKey"],
      examples: [0, 1].map(() => lattice.encodePublicKey(lattice.generateKeys(random).publicKey)),
      inCi: 3000,
      run: (input) => lattice.encodePublicKey(lattice.decodePublicKey(input)),
    }),
    bytes("lattice ciphertext", {
      covers: ["decodeCiphertext"],
      examples: encrypted.map(lattice.encode),
      run: (input) => lattice.encode(lattice.decode(input)),
    }),
    bytes("compact lattice ciphertext", {
      covers: ["decodeCompact"],
      examples: encrypted.map((each) => encodeCompact(SET, format, each)),
      inCi: 5000,
      run: (input) => encodeCompact(SET, format, decodeCompact(SET, format, input)),
    }),
  ];
}
