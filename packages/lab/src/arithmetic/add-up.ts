/** The sum of vectors of the same length, entry by entry; empty if there are none. */
export function addUp(vectors: readonly (readonly number[])[]): number[] {
  const sums = [...(vectors[0] ?? [])];
  for (const vector of vectors.slice(1)) {
    for (const [i, value] of vector.entries()) sums[i] = (sums[i] as number) + value;
  }
  return sums;
}
