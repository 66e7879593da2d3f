/** Σ (observed − expected)²/expected. */
export function chiSquare(observed: readonly number[], expected: readonly number[]): number {
  return observed.reduce((sum, count, i) => sum + (count - (expected[i] as number)) ** 2 / (expected[i] as number), 0);
}

/** What χ² exceeds with probability 10⁻⁶, or 10⁻⁸ if asked for (Wilson and Hilferty's approximation). */
export function chiSquareAlarm(degreesOfFreedom: number, falseAlarm: 1e-6 | 1e-8 = 1e-6): number {
  const z = falseAlarm === 1e-6 ? 4.7534 : 5.612;
  const f = degreesOfFreedom;
  return f * (1 - 2 / (9 * f) + z * Math.sqrt(2 / (9 * f))) ** 3;
}
