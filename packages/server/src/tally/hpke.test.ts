import { randomBytes } from "node:crypto";
import { secret } from "@lethe/core/encryption";
import { randomnessFrom } from "@lethe/core/randomness";
import { deriveWrappingKeys, type Unwrapping, WRAPPING_BYTES, wrapReport } from "@lethe/core/two-server";
import { describe, expect, it } from "vitest";
import { unwrapHalf } from "../../../core/src/two-server/wrapping.ts";
import { deriveNodeWrappingKeys } from "./hpke.ts";

const random = randomnessFrom(globalThis.crypto);
const master = secret(new Uint8Array(randomBytes(32)));
const at = { task: "wrapped", window: 7 } as const;
const binding = { ...at, device: new Uint8Array(16).fill(1), report: new Uint8Array(16).fill(2) };
const SHARED_BIT_BYTES = 128;
const ENCAPSULATED_BYTES = 32;

describe.each(["leader", "helper"] as const)("HPKE of the %s on Node's primitives", async (role) => {
  const node = deriveNodeWrappingKeys(master, { ...at, role });
  const web = await deriveWrappingKeys(master, { ...at, role });

  /** What a device wraps, and the additional data that core binds it to. */
  async function wrapped(bits: number): Promise<{ half: Uint8Array; aad: Uint8Array }> {
    const keys = { leader: web.publicKey, helper: web.publicKey };
    const halves = await wrapReport(keys, binding, new Uint8Array(randomBytes(bits * SHARED_BIT_BYTES)), random);
    let aad: Uint8Array = new Uint8Array();
    const recorder: Unwrapping = {
      open: (_encapsulated, _ciphertext, additionalData) => {
        aad = additionalData;
        return undefined;
      },
    };
    await unwrapHalf(recorder, { ...binding, role }, halves[role]);
    return { half: halves[role], aad };
  }
  const parts = (half: Uint8Array) =>
    [half.subarray(0, ENCAPSULATED_BYTES), half.subarray(ENCAPSULATED_BYTES)] as const;

  it("derives the keys that core derives", () => {
    expect(node.publicKey).toEqual(web.publicKey);
  });

  it("opens what core opens, and nothing else", async () => {
    for (const bits of [0, 1, 20]) {
      const { half, aad } = await wrapped(bits);
      const expected = await web.open(...parts(half), aad);
      expect(expected?.length).toBe(half.length - WRAPPING_BYTES);
      expect(await node.open(...parts(half), aad)).toEqual(expected);
      for (let at = 0; at < half.length; at += bits === 1 ? 1 : 37) {
        for (const change of at === 31 ? [1, 0x80] : [1 << (at & 7)]) {
          const altered = half.with(at, (half[at] as number) ^ change);
          expect(await node.open(...parts(altered), aad)).toBeUndefined();
        }
      }
      for (let at = 0; at < aad.length; at++) {
        expect(await node.open(...parts(half), aad.with(at, (aad[at] as number) ^ 1))).toBeUndefined();
      }
      for (const length of [half.length - 1, WRAPPING_BYTES, WRAPPING_BYTES - 1, ENCAPSULATED_BYTES]) {
        if (length < half.length) expect(await node.open(...parts(half.subarray(0, length)), aad)).toBeUndefined();
      }
    }
  });

  it("refuses points of small order, with which anybody knows the shared secret", async () => {
    const { half, aad } = await wrapped(1);
    const one = new Uint8Array(32).with(0, 1);
    const eighth = Buffer.from("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800", "hex");
    for (const point of [new Uint8Array(32), one, eighth]) {
      expect(await node.open(point, half.subarray(ENCAPSULATED_BYTES), aad)).toBeUndefined();
      expect(await web.open(point, half.subarray(ENCAPSULATED_BYTES), aad)).toBeUndefined();
    }
  });
});
