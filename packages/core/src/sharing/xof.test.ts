import { readFileSync } from "node:fs";
import { turboshake128 } from "@noble/hashes/sha3-addons.js";
import { expect, it } from "vitest";
import { createFastKeccak, createKeccak, type Keccak } from "./keccak.ts";
import { BLOCK_WORDS, beginStream } from "./xof.ts";

interface Vector {
  readonly binder: string;
  readonly derived_seed: string;
  readonly dst: string;
  readonly expanded_vec_field128: string;
  readonly length: number;
  readonly seed: string;
}

it.each([
  ["WebAssembly", createFastKeccak()],
  ["JavaScript", createKeccak()],
])(
  "in %s gives the official vector's seed, and its elements of a field whose 16 bytes are hardly ever passed over",
  (_name, keccak) => {
    const file = new URL("../../vectors/vdaf/XofTurboShake128.json", import.meta.url);
    const vector = JSON.parse(readFileSync(file, "utf8")) as Vector;
    const [seed, tag, binder] = [vector.seed, vector.dst, vector.binder].map((text) => Buffer.from(text, "hex")) as [
      Buffer,
      Buffer,
      Buffer,
    ];
    const stream = (bytes: number): string => streamOf(keccak, tag, seed, binder, bytes).toString("hex");
    expect(stream(32)).toBe(vector.derived_seed);
    expect(stream(16 * vector.length)).toBe(vector.expanded_vec_field128);
  },
);

it("is noble's TurboSHAKE128, for inputs and outputs of all lengths around one and two blocks", () => {
  for (const keccak of [createFastKeccak(), createKeccak()]) {
    for (const length of [0, 1, 133, 134, 135, 136, 137, 300, 301, 302, 303, 304, 305]) {
      const [tag, seed, binder] = [new Uint8Array(length).fill(7), new Uint8Array(32).fill(9), Uint8Array.of(1, 2)];
      const input = Buffer.concat([Buffer.from([length & 255, length >> 8]), tag, Buffer.from([32]), seed, binder]);
      const expected = Buffer.from(turboshake128(input, { D: 1, dkLen: 400 }));
      expect(streamOf(keccak, tag, seed, binder, 400).equals(expected)).toBe(true);
    }
  }
});

function streamOf(keccak: Keccak, tag: Uint8Array, seed: Uint8Array, binder: Uint8Array, length: number): Buffer {
  beginStream(keccak, tag.subarray(0, 5), tag.subarray(5), seed, binder);
  const blocks = [Buffer.from(keccak.bytes.slice(0, 4 * BLOCK_WORDS))];
  while (blocks.length * 4 * BLOCK_WORDS < length) {
    keccak.permute();
    blocks.push(Buffer.from(keccak.bytes.slice(0, 4 * BLOCK_WORDS)));
  }
  keccak.words.fill(0);
  return Buffer.concat(blocks).subarray(0, length);
}
