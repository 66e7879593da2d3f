/**
 * Numbers and bytes that derive from a seed, fast, for tests: sfc32 over a hash of the words (cyrb128). Anyone who knows
 * the seed knows every secret that is drawn from it.
 */
export interface Draws {
  /** A whole number below a limit. */
  below(limit: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
  fill(into: Uint8Array): void;
}

/** Draws that depend on these words, and on nothing else. */
export function drawsOf(...words: readonly (string | number)[]): Draws {
  let [a, b, c, d] = hash(words.join(" "));
  const next = (): number => {
    const t = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + t;
    c |= 0;
    return c >>> 0;
  };
  for (let i = 0; i < 12; i++) next();
  const below = (limit: number): number => Math.floor((next() / 2 ** 32) * limit);
  return {
    below,
    chance: (probability) => next() / 2 ** 32 < probability,
    pick: (from) => from[below(from.length)] as (typeof from)[number],
    fill: (into) => {
      for (let i = 0; i < into.length; i += 4) {
        const word = next();
        for (let j = 0; j < 4 && i + j < into.length; j++) into[i + j] = word >>> (8 * j);
      }
    },
  };
}

function hash(text: string): [number, number, number, number] {
  let [a, b, c, d] = [1779033703, 3144134277, 1013904242, 2773480762];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = b ^ Math.imul(a ^ code, 597399067);
    b = c ^ Math.imul(b ^ code, 2869860233);
    c = d ^ Math.imul(c ^ code, 951274213);
    d = a ^ Math.imul(d ^ code, 2716044179);
  }
  return [a, b, c, d];
}
