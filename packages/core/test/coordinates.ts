import type { RistrettoPoint } from "../src/encryption/elgamal/ristretto.ts";

/** What memory holds of a point, which noble does not show. */
export function coordinatesOf(point: RistrettoPoint): bigint[] {
  const { X, Y, Z, T } = (point as unknown as { ep: Record<"X" | "Y" | "Z" | "T", bigint> }).ep;
  return [X, Y, Z, T];
}
