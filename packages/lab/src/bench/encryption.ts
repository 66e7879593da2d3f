import {
  chooseLattice,
  compactDecoder,
  createElGamalCounter,
  createLattice,
  createNegacyclicFft,
  type DeviceKeyContext,
  deriveDeviceKeys,
  deriveDevicePublicKey,
  deriveDeviceSecretKey,
  encodeCompact,
  LATTICE_SETS,
  type LatticeParameters,
  secret,
} from "@lethe/core/encryption";
import { addCentredBinomial, addTernary, randomnessFrom } from "@lethe/core/randomness";
import { loadRistretto } from "@lethe/server/ristretto";
import { ristretto255 } from "@noble/curves/ed25519.js";
import { createUnit, type Measurement, microseconds } from "./stopwatch.ts";

const random = randomnessFrom(globalThis.crypto);
/** As the service opens. */
const group = await loadRistretto();
const T16 = 4;
/** A day of five-minute ticks and 1,000 page hides: two encryptions for each write, and one at sealing. */
const ENCRYPTIONS_A_DAY = 2 * (288 + 1000) + 1;

/** One `@noble/curves` Ristretto base multiplication, the unit of all ratios. */
export function baseMultiplication(): () => number {
  const scalar = 0x0c1d2e3f405162738495a6b7c8d9eafb0c1d2e3f405162738495a6b7c8d9eafbn;
  return createUnit(() => void ristretto255.Point.BASE.multiply(scalar));
}

/** Both encryption schemes, and what no other way of writing them could avoid. */
export function benchEncryption(unit: () => number, report: (row: Measurement) => void): void {
  const time = (name: string, task: () => void): void => {
    const value = microseconds(task);
    report({ name, value, unit: "µs", ratio: value / unit() });
  };
  benchFirstSet(LATTICE_SETS[0], time, report);
  for (const parameters of LATTICE_SETS.slice(1)) {
    const scheme = createLattice(parameters, T16);
    const { publicKey } = scheme.generateKeys(random);
    const ciphertext = scheme.trivial();
    time(`${scheme.id}: add one encryption`, () => scheme.addEncryptionsOfZero(publicKey, ciphertext, 1, random));
  }
  benchElGamal(time, report);
}

type Time = (name: string, task: () => void) => void;

function benchFirstSet(parameters: LatticeParameters, time: Time, report: (row: Measurement) => void): void {
  const { dimension } = parameters;
  const { format } = chooseLattice({ plaintextBits: T16, slots: dimension, encryptions: ENCRYPTIONS_A_DAY });
  const scheme = createLattice(parameters, T16);
  const master = secret(crypto.getRandomValues(new Uint8Array(32)));
  const context: DeviceKeyContext = { task: "bench", window: 1, device: new Uint8Array(16), role: "tally", index: 0 };
  const { publicKey, secretKey } = deriveDeviceKeys(scheme, master, context);
  const ciphertext = scheme.trivial();
  const sealed = encodeCompact(parameters, format, scheme.rerandomize(publicKey, ciphertext, random));
  const stored = scheme.encode(ciphertext);
  const decode = compactDecoder(parameters, format);
  const name = `${scheme.id}:`;

  time(`${name} add one encryption`, () => scheme.addEncryptionsOfZero(publicKey, ciphertext, 1, random));
  // The parts of it that no other way of writing it can avoid.
  const bytes = new Uint8Array(Math.ceil((dimension / 5) * 1.15) + 2 * 4 * Math.ceil((dimension * 4) / 3));
  time(`${name}   its random bytes (${bytes.length})`, () => random(bytes));
  const sums = new Int32Array(dimension);
  time(`${name}   its samples, random bytes included`, () => {
    addTernary(random, sums);
    addCentredBinomial(random, sums);
    addCentredBinomial(random, sums);
  });
  time(`${name}   its three FFTs`, threeTransforms(dimension));
  time(`${name} add 100 encryptions at once`, () => scheme.addEncryptionsOfZero(publicKey, ciphertext, 100, random));
  time(`${name} open a report, key derivation included`, () => {
    scheme.decrypt(deriveDeviceSecretKey(scheme, master, context), decode(sealed).ciphertext);
  });
  time(`${name} decrypt`, () => void scheme.decrypt(secretKey, ciphertext));
  time(`${name} derive a device's key pair`, () => void deriveDeviceKeys(scheme, master, context));
  time(`${name} encode a state`, () => void scheme.encode(ciphertext));
  time(`${name} decode a state`, () => void scheme.decode(stored));
  time(`${name} encode a report`, () => void encodeCompact(parameters, format, ciphertext));
  report({ name: `${name} state`, value: scheme.ciphertextBytes, unit: "bytes" });
  report({ name: `${name} report, t = 16`, value: sealed.length, unit: "bytes" });
  report({ name: `${name} public key`, value: scheme.publicKeyBytes, unit: "bytes" });
}

function threeTransforms(dimension: number): () => void {
  const fft = createNegacyclicFft(dimension);
  const values = new Float64Array(dimension);
  return () => {
    values.fill(1);
    fft.forward(values);
    fft.inverse(values);
    fft.inverse(values);
  };
}

function benchElGamal(time: Time, report: (row: Measurement) => void): void {
  const scheme = createElGamalCounter({ minimum: 0, maximum: 1 });
  const { publicKey, secretKey } = scheme.generateKeys(random);
  const ciphertext = scheme.encrypt(publicKey, 1, random);
  const bytes = scheme.encode(ciphertext);
  time("elgamal: rerandomize", () => void scheme.rerandomize(publicKey, ciphertext, random));
  time("elgamal: decrypt a bit", () => void scheme.decrypt(secretKey, ciphertext));
  const onServer = createElGamalCounter({ minimum: 0, maximum: 1 }, group);
  time("elgamal: open a bit on a server", () => void onServer.open(secretKey, bytes));
  const context: DeviceKeyContext = { task: "bench", window: 1, device: new Uint8Array(16), role: "tally", index: 0 };
  const master = secret(crypto.getRandomValues(new Uint8Array(32)));
  time(
    "elgamal: derive a device's public key on a server",
    () => void deriveDevicePublicKey(onServer, master, context),
  );
  time("elgamal: encode", () => void scheme.encode(ciphertext));
  time("elgamal: decode", () => void scheme.decode(bytes));
  report({ name: "elgamal: ciphertext", value: scheme.ciphertextBytes, unit: "bytes" });
}
