import { turboshake128 } from "@noble/hashes/sha3-addons.js";

export const XOF_BLOCK_BYTES = 168;
const DOMAIN = 1;

/** XofTurboShake128 of draft-irtf-cfrg-vdaf: the first bytes of the stream that belongs to a seed, a tag and a binder. */
export function xofTurboShake128(
  seed: Uint8Array,
  tag: Uint8Array,
  binder: ArrayLike<number>,
  bytes: number,
): Uint8Array {
  const input = new Uint8Array(3 + tag.length + seed.length + binder.length);
  input[0] = tag.length;
  input[1] = tag.length >> 8;
  input.set(tag, 2);
  input[2 + tag.length] = seed.length;
  input.set(seed, 3 + tag.length);
  input.set(binder, 3 + tag.length + seed.length);
  return turboshake128(input, { D: DOMAIN, dkLen: bytes });
}
