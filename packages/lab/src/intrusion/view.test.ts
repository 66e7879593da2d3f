import { seededRandomnessForTests } from "@lethe/core/randomness";
import { describe, expect, it } from "vitest";
import { bytesFrom } from "../randomness/bytes-from.ts";
import { FEATURES, MEASURES, type Measure, measure, type View } from "./view.ts";

const random = seededRandomnessForTests("views");
const HEADER = 10;
const COEFFICIENT_BITS = 25;

/** All numbers of a view: each by its name, and those that only the classifier sees. */
function measured(view: View): { of(name: Measure): number; others: Float32Array } {
  const features = new Float32Array(1 + FEATURES);
  measure(view, features, 1);
  expect(features[0]).toBe(0);
  return {
    of: (name) => features[1 + MEASURES.indexOf(name)] as number,
    others: features.subarray(1 + MEASURES.length),
  };
}

/** One byte, one bit after another, from the end. */
function compared(a: Uint8Array, b: Uint8Array): { equalBytes: number; differentBits: number } {
  let [equalBytes, differentBits] = [0, 0];
  for (let end = 1; end <= Math.min(a.length, b.length); end++) {
    const difference = (a.at(-end) as number) ^ (b.at(-end) as number);
    if (difference === 0) equalBytes++;
    differentBits += difference.toString(2).replaceAll("0", "").length;
  }
  return { equalBytes, differentBits };
}

function coefficientsOf(bytes: Uint8Array): bigint[] {
  const whole = bytes.toReversed().reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  return Array.from({ length: (8 * bytes.length) / COEFFICIENT_BITS }, (_, i) =>
    BigInt.asUintN(COEFFICIENT_BITS, whole >> BigInt(COEFFICIENT_BITS * i)),
  );
}

describe("what is measured of a view", () => {
  it("is what counting byte by byte gives, header or not, equal parts or not", () => {
    for (const length of [0, 64, 100, 200, 6400]) {
      const [before, dump, last] = [
        bytesFrom(random, HEADER + length),
        bytesFrom(random, length),
        bytesFrom(random, HEADER + length),
      ];
      // Parts that stayed as they were, in all places of a word.
      for (let at = 0; at < length; at += 7) dump[at] = before[HEADER + at] as number;
      for (let at = 0; at < length; at += 11) last[HEADER + at] = dump[at] as number;
      const { of, others } = measured({ before, dump, stored: [{ bytes: last, at: 1 }], parts: "coefficients" });
      const [toDump, fromDump, whole] = [compared(before, dump), compared(dump, last), compared(before, last)];
      expect(of("dump against storage")).toBe(Math.max(toDump.equalBytes, fromDump.equalBytes));
      expect([others[0], others[1]]).toEqual([toDump.differentBits, fromDump.differentBits]);
      expect(of("equal bytes")).toBe(whole.equalBytes);
      expect(of("equal bits")).toBe(-whole.differentBits || 0);
      expect(of("ones")).toBe(compared(last, new Uint8Array(last.length)).differentBits);
      expect(of("sizes")).toBe(last.length);
    }
  });

  it("has the coefficients that differ by no more than noise", () => {
    const [dump, noise] = [bytesFrom(random, 200), 512n];
    const changed = coefficientsOf(dump).map((value, i) => {
      const difference = [0n, noise, -noise, noise + 1n, -noise - 1n][i % 5] as bigint;
      return BigInt.asUintN(COEFFICIENT_BITS, value + difference);
    });
    const whole = changed.reduceRight((sum, value) => (sum << BigInt(COEFFICIENT_BITS)) | value, 0n);
    const last = Uint8Array.from(dump, (_, i) => Number((whole >> BigInt(8 * i)) & 255n));
    const before = dump.map((byte) => byte ^ 0x55);
    const { of } = measured({ before, dump, stored: [{ bytes: last, at: 1 }], parts: "coefficients" });
    expect(of("equal parts")).toBe(changed.filter((_, i) => i % 5 < 3).length);
  });
});
