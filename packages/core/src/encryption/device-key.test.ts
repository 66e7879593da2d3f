import { bytesToHex } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { seededRandomnessForTests } from "../randomness/index.ts";
import { xof } from "../xof.ts";
import { type DeviceKeyContext, deriveDeviceKeys, deriveDeviceSecretKey } from "./device-key.ts";
import { createElGamalCounter, elgamalGroup } from "./elgamal/elgamal.ts";
import { createLattice } from "./lattice/lattice.ts";
import { LATTICE_SETS } from "./lattice/parameters.ts";
import { secret } from "./secret.ts";

const master = secret(new Uint8Array(32).fill(9));
const context: DeviceKeyContext = {
  task: "editor-health",
  window: 20_000,
  device: Uint8Array.from({ length: 16 }, (_, i) => i),
  role: "tally",
  index: 0,
};
/** One context for every field in which it can differ. */
const others: DeviceKeyContext[] = [
  { ...context, task: "editor-healthy" },
  { ...context, window: 20_001 },
  { ...context, device: context.device.map((byte) => byte ^ 1) },
  { ...context, role: "helper" },
  { ...context, index: 1 },
];
const lattice = createLattice(LATTICE_SETS[0], 4);
const random = seededRandomnessForTests("device keys");

function digest(bytes: Uint8Array): string {
  const out = new Uint8Array(16);
  xof("test digest", bytes)(out);
  return bytesToHex(out);
}

describe("device keys", () => {
  it("are the same every time, in full and for the secret half alone", () => {
    for (const scheme of [lattice, elgamalGroup]) {
      const once = deriveDeviceKeys(scheme as typeof lattice, master, context);
      const again = deriveDeviceKeys(scheme as typeof lattice, master, context);
      const half = deriveDeviceSecretKey(scheme as typeof lattice, master, context);
      const encode = (scheme as typeof lattice).encodePublicKey;
      expect(encode(once.publicKey)).toEqual(encode(again.publicKey));
      expect(half.reveal()).toEqual(once.secretKey.reveal());
    }
  });

  it("never change: reports of a window must open after an upgrade", () => {
    const latticeKey = lattice.encodePublicKey(deriveDeviceKeys(lattice, master, context).publicKey);
    const elgamalKey = elgamalGroup.encodePublicKey(deriveDeviceKeys(elgamalGroup, master, context).publicKey);
    expect({ lattice: digest(latticeKey), elgamal: bytesToHex(elgamalKey) }).toMatchInlineSnapshot(`
      {
        "elgamal": "3011e0dd0092e6934a09d61fd9f07a0ee1bff467393c701d76572dc0da2ba451",
        "lattice": "f17e42fdea6ff5914025784ca9081447",
      }
    `);
  });

  it("differ in every part of the context, in the master secret and in the parameters", () => {
    const publicKey = (from: DeviceKeyContext, under = master): string =>
      digest(lattice.encodePublicKey(deriveDeviceKeys(lattice, under, from).publicKey));
    const keys = [publicKey(context), publicKey(context, secret(new Uint8Array(32).fill(8)))];
    for (const other of others) keys.push(publicKey(other));
    expect(new Set(keys).size).toBe(keys.length);

    const longer = createLattice(LATTICE_SETS[1], 4);
    const short = deriveDeviceSecretKey(lattice, master, context).reveal();
    const long = deriveDeviceSecretKey(longer, master, context).reveal();
    expect(long.subarray(0, 1024)).not.toEqual(short);
  });

  it("of two devices are uncorrelated in s, e and a", () => {
    const DEVICES = 60;
    const secrets = Array.from({ length: DEVICES }, (_, i) => {
      const device = new Uint8Array(16);
      device[15] = i;
      const { secretKey, publicKey } = deriveDeviceKeys(lattice, master, { ...context, device });
      return { s: secretKey.reveal(), b: publicKey.b, seed: bytesToHex(publicKey.seed) };
    });
    expect(new Set(secrets.map(({ seed }) => seed)).size).toBe(DEVICES);
    // Products of independent ternary digits have variance 4/9; of centred uniform limbs 2^100/144.
    const correlation = (x: Int32Array, y: Int32Array, centre: number, deviation: number): number =>
      x.reduce((sum, value, i) => sum + (value - centre) * ((y[i] as number) - centre), 0) / (32 * deviation);
    for (let i = 1; i < DEVICES; i++) {
      const [left, right] = [secrets[i - 1], secrets[i]] as [(typeof secrets)[0], (typeof secrets)[0]];
      // 118 comparisons at six standard deviations: false alarm 2e-7.
      expect(Math.abs(correlation(left.s, right.s, 0, 2 / 3))).toBeLessThan(6);
      expect(Math.abs(correlation(left.b, right.b, 2 ** 24, 2 ** 50 / 12))).toBeLessThan(6);
    }
  });

  it("a captured ciphertext, rerandomized and sent as another device, opens to noise", () => {
    const counter = createElGamalCounter({ minimum: 0, maximum: 100 });
    const captured = counter.encrypt(deriveDeviceKeys(counter, master, context).publicKey, 1, random);
    const ledger = lattice.encrypt(deriveDeviceKeys(lattice, master, context).publicKey, new Int32Array(1024), random);
    for (const other of others) {
      const copy = counter.rerandomize(deriveDeviceKeys(counter, master, other).publicKey, captured, random);
      expect(() => counter.decrypt(deriveDeviceSecretKey(counter, master, other), copy)).toThrow(
        expect.objectContaining({ code: "undecryptable" }),
      );
      const copied = lattice.rerandomize(deriveDeviceKeys(lattice, master, other).publicKey, ledger, random);
      const opened = lattice.decrypt(deriveDeviceSecretKey(lattice, master, other), copied);
      // All of 32 slots zero by chance: 2^-128.
      expect(opened.subarray(0, 32).every((slot) => slot === 0)).toBe(false);
    }
  });

  it("refuse contexts that are not one", () => {
    const derive =
      (change: Partial<DeviceKeyContext>, under = master) =>
      () =>
        deriveDeviceSecretKey(lattice, under, { ...context, ...change });
    expect(derive({ device: new Uint8Array(15) })).toThrow("a device id has 16 bytes, not 15");
    expect(derive({ window: -1 })).toThrow(RangeError);
    expect(derive({ index: 0.5 })).toThrow(RangeError);
    expect(derive({ task: "naïve" })).toThrow(TypeError);
    expect(derive({}, secret(new Uint8Array(16)))).toThrow("a window master secret has 32 bytes, not 16");
  });
});
