import { assemblePermutation } from "../keccak-wasm.ts";
import { permute } from "../turboshake.ts";

/**
 * The state of Keccak, 25 lanes of two words, low one first, and the permutation Keccak-p[1600, 12] of it. Its user
 * leaves it zero.
 */
export interface Keccak {
  readonly words: Int32Array;
  /** The same state; like all machines that run JavaScript today, this one is little-endian. */
  readonly bytes: Uint8Array;
  permute(): void;
}

/** In JavaScript, for pages whose policy forbids WebAssembly. */
export function createKeccak(): Keccak {
  const words = new Int32Array(50);
  return { words, bytes: new Uint8Array(words.buffer), permute: () => permute(words) };
}

/** In WebAssembly, which has 64-bit words; in JavaScript where there is none. */
export function createFastKeccak(): Keccak {
  const assembled = assemblePermutation();
  if (!assembled) return createKeccak();
  const { memory, permute } = assembled;
  return { words: new Int32Array(memory, 0, 50), bytes: new Uint8Array(memory, 0, 200), permute };
}
