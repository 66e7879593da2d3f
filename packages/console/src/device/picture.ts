/** Bytes as a picture: one pixel per byte, in rows, as nearly square as they fit. */
export interface Picture {
  readonly columns: number;
  readonly rows: number;
  /** Red, green, blue and opacity of each pixel. Pixels after the last byte are transparent. */
  readonly pixels: Uint8ClampedArray<ArrayBuffer>;
}

/** Red and blue at five values of a byte, from 0 to 255; green is the byte itself. From violet over green to yellow. */
const RED = [68, 59, 33, 94, 253];
const BLUE = [84, 139, 140, 98, 37];
const STEP = 255 / (RED.length - 1);

/** The colour of a byte: bright if it changed, grey if not. Every byte has its own, so a picture shows all of them. */
export function colourOf(byte: number, isChanged: boolean): readonly [red: number, green: number, blue: number] {
  if (isChanged) return [between(RED, byte), byte, between(BLUE, byte)];
  const grey = 20 + (byte >> 1);
  return [grey, grey, grey + 8 + (byte & 1)];
}

function between(stops: readonly number[], byte: number): number {
  const at = Math.min(Math.floor(byte / STEP), stops.length - 2);
  const [from, to] = [stops[at] as number, stops[at + 1] as number];
  return Math.round(from + (to - from) * (byte / STEP - at));
}

/** Draws bytes, compared with those that were there before; without those, all of them count as changed. */
export function pictureOf(bytes: Uint8Array, before: Uint8Array | undefined): Picture {
  const columns = Math.max(1, Math.ceil(Math.sqrt(bytes.length)));
  const rows = Math.max(1, Math.ceil(bytes.length / columns));
  const pixels = new Uint8ClampedArray(4 * columns * rows);
  for (const [i, byte] of bytes.entries()) pixels.set([...colourOf(byte, before?.[i] !== byte), 255], 4 * i);
  return { columns, rows, pixels };
}

/** How many bytes differ from those before, or are missing in one of both. */
export function changedBytes(bytes: Uint8Array, before: Uint8Array): number {
  const length = Math.max(bytes.length, before.length);
  let changed = 0;
  for (let i = 0; i < length; i++) if (bytes[i] !== before[i]) changed++;
  return changed;
}

/** The same as a share of the longer one. */
export function changedShare(bytes: Uint8Array, before: Uint8Array): number {
  return changedBytes(bytes, before) / Math.max(bytes.length, before.length, 1);
}
