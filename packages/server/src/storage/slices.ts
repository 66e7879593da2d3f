import type { SqlValue } from "./database.ts";

/** The devices whose ids begin alike: a statement on one slice of a large window ends in time. */
export interface Slice {
  readonly index: number;
  readonly of: number;
}

const MOST_AT_ONCE = 10_000;
const MOST_SLICES = 256;

/** The slices of a window with this many devices; a small window is one. */
export function slicesOf(devices: number): Slice[] {
  const of = devices > MOST_AT_ONCE ? MOST_SLICES : 1;
  return Array.from({ length: of }, (_, index) => ({ index, of }));
}

/** What chooses the rows of a slice, by the first byte of `device`, with the values of its parameters from `$first` on. */
export function inSlice(
  { index, of }: Slice,
  first: number,
): { readonly condition: string; readonly values: readonly SqlValue[] } {
  const isLast = index === of - 1;
  return {
    condition: `device >= $${first} AND ($${first + 1}::boolean OR device < $${first + 2})`,
    values: [Uint8Array.of(index), isLast, Uint8Array.of(isLast ? index : index + 1)],
  };
}
