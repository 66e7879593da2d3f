/** Seeded choices, for tests: the same seed gives the same inputs on every machine. Of no use where chance must be secret. */
export interface Choose {
  /** A whole number from 0 to below this. */
  below(limit: number): number;
  chance(probability: number): boolean;
  oneOf<T>(from: readonly T[]): T;
}

/** The generator sfc32, seeded with up to three numbers. */
export function chooseForTests(...[first = 0, second = 0, third = 0]: readonly number[]): Choose {
  let [a, b, c, counter] = [first | 0, second | 0, third | 0, 1];
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return sum >>> 0;
  };
  for (let i = 0; i < 12; i++) next();
  const below = (limit: number): number => Math.floor((next() / 2 ** 32) * limit);
  return {
    below,
    chance: (probability) => next() / 2 ** 32 < probability,
    oneOf: (from) => from[below(from.length)] as (typeof from)[number],
  };
}
