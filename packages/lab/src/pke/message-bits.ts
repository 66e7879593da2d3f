import type { Bit } from "./counter.ts";

/** The bits of a text in UTF-8, the highest bit of a byte first. */
export function bitsOf(text: string): Bit[] {
  return [...new TextEncoder().encode(text)].flatMap((byte) =>
    Array.from({ length: 8 }, (_, i): Bit => (((byte >> (7 - i)) & 1) === 1 ? 1 : 0)),
  );
}

/** The text of these bits. Bytes that are not UTF-8 become replacement characters. */
export function textOf(bits: readonly Bit[]): string {
  const bytes = new Uint8Array(bits.length / 8);
  for (const [i, bit] of bits.entries()) bytes[i >> 3] = ((bytes[i >> 3] as number) << 1) | bit;
  return new TextDecoder().decode(bytes);
}
