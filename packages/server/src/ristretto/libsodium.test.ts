import { randomBytes } from "node:crypto";
import load from "libsodium-sumo";
import { describe, expect, it, vi } from "vitest";
import { testRistrettoGroup } from "../../../core/test/ristretto-group.ts";
import { createRistretto, loadRistretto } from "./libsodium.ts";

testRistrettoGroup("libsodium", loadRistretto);

/** RFC 9496, A.2: a canonical, non-negative number that is the encoding of no element. */
const NO_SQUARE = Buffer.from("26948d35ca62e643e26a83177332e6b6afeb9d08e4268b650f1f5bbd8d81d371", "hex");

describe("opening a ciphertext", () => {
  /** Which compiled functions were called, in order, each with its status. */
  async function watchedRistretto() {
    const sodium = await load();
    const calls: string[] = [];
    const watched = Object.create(sodium) as typeof sodium;
    for (const name of ["_crypto_scalarmult_ristretto255", "_crypto_core_ristretto255_sub"] as const) {
      Object.defineProperty(watched, name, {
        value: (a: number, b: number, c: number) => {
          const status = sodium[name](a, b, c);
          calls.push(`${name} ${status}`);
          return status;
        },
      });
    }
    const isValid = vi.fn((place: number) => {
      // Not cut short before the square root: that is, of a canonical number.
      const number = sodium.HEAPU8.subarray(place, place + 32);
      expect((number[31] as number) < 0x80 && (number[0] as number) % 2 === 0).toBe(true);
      calls.push("_crypto_core_ristretto255_is_valid_point");
      return sodium._crypto_core_ristretto255_is_valid_point(place);
    });
    Object.defineProperty(watched, "_crypto_core_ristretto255_is_valid_point", { value: isValid });
    return { group: createRistretto(watched), calls };
  }

  it("takes the same operations, all of which succeed, for valid and for invalid bytes", async () => {
    const { group, calls } = await watchedRistretto();
    const scalars = [7, 9].map((byte) => new Uint8Array(32).fill(byte, 0, 31));
    const [good, identity] = [group.multiplyBase(scalars[0] as Uint8Array), new Uint8Array(32)];
    const kinds = [good, identity, new Uint8Array(32).fill(0xff), Uint8Array.of(1, ...good.subarray(1)), NO_SQUARE];
    const expected = ["is_valid", "scalarmult", "is_valid", "sub", "scalarmult", "is_valid", "sub"];
    for (const ephemeral of kinds) {
      for (const first of kinds) {
        for (const second of kinds) {
          calls.length = 0;
          group.unmask(scalars, Uint8Array.from([...ephemeral, ...first, ...second]));
          expect(calls.map((call) => expected.find((name) => call.includes(name)))).toEqual(expected);
          for (const call of calls) expect(call).not.toContain("-1");
        }
      }
    }
  });

  it("leaves no scalar in the memory of the library once it is wiped, nor the digits into which it is split", async () => {
    const sodium = await load();
    const group = createRistretto(sodium);
    const scalar = Uint8Array.from(randomBytes(32)).with(31, 1);
    const element = group.multiplyBase(scalar);
    group.unmask([scalar], Uint8Array.from([...element, ...element]));
    group.wipe();
    const digits = radix16(scalar);
    const traces: Uint8Array[] = [0, 8, 16, 24].map((at) => scalar.subarray(at, at + 8));
    for (let at = 0; at < 64; at += 8) traces.push(digits.subarray(at, at + 8));
    const found = () => traces.filter((trace) => Buffer.from(sodium.HEAPU8).includes(Buffer.from(trace))).length;
    expect(found()).toBe(0);
    sodium.HEAPU8.set(digits, sodium._malloc(64));
    expect(found()).toBe(8);
  });
});

/** Digits from −8 to 8, into which multiplications split a scalar. */
function radix16(scalar: Uint8Array): Uint8Array {
  const digits = Int8Array.from([...scalar].flatMap((byte) => [byte & 15, byte >> 4]));
  let carry = 0;
  for (let i = 0; i < 63; i++) {
    const digit = (digits[i] as number) + carry;
    carry = (digit + 8) >> 4;
    digits[i] = digit - 16 * carry;
  }
  digits[63] = (digits[63] as number) + carry;
  return new Uint8Array(digits.buffer);
}
