/**
 * Encryption whose ciphertexts anybody can rerandomize: what a device keeps its state under. Two schemes, each in a
 * folder: `elgamal` over Ristretto255, and `lattice`. Also here: how the keys of devices follow from the secret of a
 * window. May import `randomness` and the files directly below `src`. Start reading at `rerandomizable.ts`, the
 * interface of both schemes.
 */
export { fastXof } from "../fast-xof.ts";
export {
  type DeviceKeyContext,
  deriveDeviceKeys,
  deriveDevicePublicKey,
  deriveDeviceSecretKey,
  type KeyRole,
} from "./device-key.ts";
export {
  createElGamalCounter,
  type ElGamalCiphertext,
  type ElGamalPublicKey,
  type ElGamalSecretKey,
  elgamalGroup,
} from "./elgamal/elgamal.ts";
export type { RistrettoGroup, Unmasked } from "./elgamal/group.ts";
export { nobleGroup } from "./elgamal/noble-group.ts";
export { chooseLattice, type LatticeChoice, type LatticeNeed } from "./lattice/choose.ts";
export type { LatticeCiphertext } from "./lattice/ciphertext.ts";
export { type CompactFormat, compactBytes, compactDecoder, decodeCompact, encodeCompact } from "./lattice/compact.ts";
export type { LatticePublicKey, LatticeSecretKey } from "./lattice/keys.ts";
export { createLattice, type LatticeScheme, type Slots } from "./lattice/lattice.ts";
export { createNegacyclicFft, type NegacyclicFft } from "./lattice/negacyclic-fft.ts";
export { log2FailureBound, type NoiseHistory, noiseVariance } from "./lattice/noise-history.ts";
export { LATTICE_SETS, type LatticeParameters, LONGEST as MOST_SLOTS } from "./lattice/parameters.ts";
export type { AdditiveScheme, DeviceScheme, KeyPair, RerandomizableScheme } from "./rerandomizable.ts";
export { type Secret, secret } from "./secret.ts";
export { commitToWindowSecret, deriveTallyKey, stepWindowRatchet, WINDOW_SECRET_BYTES } from "./window-secret.ts";
