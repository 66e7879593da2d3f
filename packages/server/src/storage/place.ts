/** A database among those of a window: the first is 0. */
export interface Place {
  readonly index: number;
  readonly of: number;
}

/** The only database of a window. */
export const ONLY_PLACE: Place = { index: 0, of: 1 };

/**
 * The database that a device belongs to, with everything that concerns it: its keys, its token, its report, and the
 * tally that has it. Only the id decides, and ids are random.
 */
export function placeOf(device: Uint8Array, of: number): number {
  const { buffer, byteOffset, length } = device;
  return new DataView(buffer, byteOffset, length).getUint32(length - 4) % of;
}
