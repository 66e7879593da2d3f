import { assemblePermutation } from "./keccak-wasm.ts";
import { type Permutation, permute } from "./turboshake.ts";
import { type Xof, xofOn } from "./xof.ts";

let fast: Xof | undefined;

/** `xof`, the same bytes, as quick as a server can: in WebAssembly, or in JavaScript where there is none. */
export const fastXof: Xof = (label, ...parts) => {
  fast ??= xofOn(fastPermutation());
  return fast(label, ...parts);
};

function fastPermutation(): Permutation {
  const assembled = assemblePermutation();
  if (!assembled) return permute;
  const words = new Int32Array(assembled.memory, 0, 50);
  // Several streams may be open at a time, each with its own state.
  return (state) => {
    words.set(state);
    assembled.permute();
    state.set(words);
    words.fill(0);
  };
}
