import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { xofTurboShake128 } from "./xof.ts";

interface Vector {
  readonly binder: string;
  readonly derived_seed: string;
  readonly dst: string;
  readonly expanded_vec_field128: string;
  readonly length: number;
  readonly seed: string;
}

it("gives the official vector's seed, and its elements of a field whose 16 bytes are hardly ever passed over", () => {
  const file = new URL("../../vectors/vdaf/XofTurboShake128.json", import.meta.url);
  const vector = JSON.parse(readFileSync(file, "utf8")) as Vector;
  const [seed, tag, binder] = [vector.seed, vector.dst, vector.binder].map((text) => Buffer.from(text, "hex")) as [
    Buffer,
    Buffer,
    Buffer,
  ];
  const stream = (bytes: number): string => Buffer.from(xofTurboShake128(seed, tag, binder, bytes)).toString("hex");
  expect(stream(32)).toBe(vector.derived_seed);
  expect(stream(16 * vector.length)).toBe(vector.expanded_vec_field128);
});
