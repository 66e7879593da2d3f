/**
 * Ristretto255 (RFC 9496) as servers use it: on encodings and bytes of scalars, so that an implementation need not be in
 * JavaScript. `nobleGroup` is core's own; a server passes a faster one in. Devices keep points
 * decoded in memory and do without this interface. All implementations pass the same tests, and give the same bytes.
 *
 * A scalar is 32 bytes, little-endian, below the order of the group. An element is its 32 bytes of encoding.
 */
export interface RistrettoGroup {
  /** 64 big-endian bytes modulo the order of the group. */
  reduce(wide: Uint8Array): Uint8Array;
  /** x·G, for a secret x that is not zero. */
  multiplyBase(scalar: Uint8Array): Uint8Array;
  /**
   * Opens an ephemeral element E and, after it, one masked element for each scalar: Mᵢ − xᵢ·E. The work is the same for
   * all bytes of the right length: where an element would take less, another takes its place.
   */
  unmask(scalars: readonly Uint8Array[], bytes: Uint8Array): Unmasked;
  /** The encodings of start, start + step, start + 2·step, …: `count` of them. Both must be encodings of elements. */
  walk(start: Uint8Array, step: Uint8Array, count: number): Uint8Array[];
  /** The encoding of left − right. Both must be encodings of elements. */
  subtract(left: Uint8Array, right: Uint8Array): Uint8Array;
  /** Overwrites secrets that calls have left in the implementation's memory, as far as it can be reached. */
  wipe(): void;
}

/** What was masked. */
export interface Unmasked {
  /** One for each scalar; any, if not `decoded`. */
  readonly elements: readonly Uint8Array[];
  /** Whether all bytes were encodings of elements. */
  readonly decoded: boolean;
  /** Whether E was 0·G, so that nothing was masked. */
  readonly isTrivial: boolean;
}
