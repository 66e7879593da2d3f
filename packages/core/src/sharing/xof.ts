import type { Keccak } from "./keccak.ts";

const RATE = 168;
const DOMAIN = 1;
const MOST_TAG_BYTES = 0xffff;
/** The words of a block. */
export const BLOCK_WORDS: number = RATE / 4;

/**
 * XofTurboShake128 of draft-irtf-cfrg-vdaf: begins the stream that belongs to a tag, here in two parts, a seed and a
 * binder, whose first block is then in the state of `keccak`; `permute` brings the next.
 */
export function beginStream(
  keccak: Keccak,
  tag: Uint8Array,
  restOfTag: Uint8Array,
  seed: Uint8Array,
  binder: Uint8Array,
): void {
  const tagLength = tag.length + restOfTag.length;
  if (tagLength > MOST_TAG_BYTES) throw new RangeError(`a tag has at most ${MOST_TAG_BYTES} bytes, not ${tagLength}`);
  let at = absorbByte(keccak, 0, tagLength & 0xff);
  at = absorbByte(keccak, at, tagLength >> 8);
  at = absorb(keccak, at, tag);
  at = absorb(keccak, at, restOfTag);
  at = absorbByte(keccak, at, seed.length);
  at = absorb(keccak, at, seed);
  at = absorb(keccak, at, binder);
  const { bytes } = keccak;
  bytes[at] = (bytes[at] as number) ^ DOMAIN;
  bytes[RATE - 1] = (bytes[RATE - 1] as number) ^ 0x80;
  keccak.permute();
}

function absorb(keccak: Keccak, from: number, part: Uint8Array): number {
  let at = from;
  for (let i = 0; i < part.length; i++) at = absorbByte(keccak, at, part[i] as number);
  return at;
}

function absorbByte({ bytes, permute }: Keccak, at: number, byte: number): number {
  bytes[at] = (bytes[at] as number) ^ byte;
  if (at < RATE - 1) return at + 1;
  permute();
  return 0;
}
