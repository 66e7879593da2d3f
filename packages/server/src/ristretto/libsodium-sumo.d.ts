/** The part of libsodium that this package uses. All arguments but scalars' lengths are places in `HEAPU8`. */
declare module "libsodium-sumo" {
  export interface Sodium {
    readonly HEAPU8: Uint8Array;
    _malloc(bytes: number): number;
    /** 0, or −1 if the product is 0·G or the bytes at `element` are no encoding. */
    _crypto_scalarmult_ristretto255(product: number, scalar: number, element: number): number;
    /** 0, or −1 if the scalar is zero. */
    _crypto_scalarmult_ristretto255_base(product: number, scalar: number): number;
    /** 0, or −1 if one of the terms is no encoding. */
    _crypto_core_ristretto255_add(sum: number, left: number, right: number): number;
    _crypto_core_ristretto255_sub(difference: number, left: number, right: number): number;
    /** 1 or 0. */
    _crypto_core_ristretto255_is_valid_point(element: number): number;
    /** 64 little-endian bytes to 32. */
    _crypto_core_ristretto255_scalar_reduce(scalar: number, wide: number): void;
  }
  // biome-ignore lint/style/noDefaultExport: it is libsodium's.
  export default function load(): Promise<Sodium>;
}
