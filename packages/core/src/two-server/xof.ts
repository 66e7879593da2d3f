import { turboshake128 } from "@noble/hashes/sha3-addons.js";

export const XOF_BLOCK_BYTES = 168;
const DOMAIN = 1;

/** XofTurboShake128 of draft-irtf-cfrg-vdaf: the first bytes of the stream that belongs to a seed, a tag and a binder. */
export function xofTurboShake128(
  seed: Uint8Array,
  tag: readonly number[],
  binder: readonly number[],
  bytes: number,
): Uint8Array {
  const input = Uint8Array.of(tag.length & 255, tag.length >> 8, ...tag, seed.length, ...seed, ...binder);
  return turboshake128(input, { D: DOMAIN, dkLen: bytes });
}
