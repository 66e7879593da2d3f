import { numberAt, type Put } from "./leveldb-log.ts";

const FOOTER_BYTES = 48;
/** After each block: whether it is compressed, and a checksum. */
const SNAPPY = 1;
/** After each key: when it was written, 56 bits, and whether it was put. */
const TAG_BYTES = 8;
const PUT = 1;

/**
 * Everything that a table file of a LevelDB holds, overwritten or not: a block of handles, at the end, leads to blocks
 * of keys and values (https://github.com/google/leveldb/blob/main/doc/table_format.md).
 */
export function putsInTable(table: Buffer): Put[] {
  const footer = table.subarray(table.length - FOOTER_BYTES);
  const meta = numberAt(footer, numberAt(footer, 0).end);
  return entriesOf(blockAt(table, footer, meta.end))
    .flatMap(({ value }) => entriesOf(blockAt(table, value, 0)))
    .filter(({ key }) => key[key.length - TAG_BYTES] === PUT)
    .map(({ key, value }) => ({ key: key.subarray(0, -TAG_BYTES), value }));
}

/** A handle is where a block begins, and how long it is. */
function blockAt(table: Buffer, handle: Buffer, at: number): Buffer {
  const from = numberAt(handle, at);
  const { value: length } = numberAt(handle, from.end);
  const block = table.subarray(from.value, from.value + length);
  return table[from.value + length] === SNAPPY ? decompressed(block) : block;
}

/** Each key without what it shares with the one before. */
function entriesOf(block: Buffer): Put[] {
  const restarts = block.readUInt32LE(block.length - 4);
  const end = block.length - 4 - 4 * restarts;
  const entries: Put[] = [];
  let key = Buffer.alloc(0);
  for (let at = 0; at < end; ) {
    const shared = numberAt(block, at);
    const own = numberAt(block, shared.end);
    const length = numberAt(block, own.end);
    const from = length.end + own.value;
    key = Buffer.concat([key.subarray(0, shared.value), block.subarray(length.end, from)]);
    at = from + length.value;
    entries.push({ key, value: block.subarray(from, at) });
  }
  return entries;
}

/**
 * Snappy: bytes, and copies of what came before (https://github.com/google/snappy/blob/main/format_description.txt).
 */
function decompressed(block: Buffer): Buffer {
  const { value: length, end } = numberAt(block, 0);
  const bytes = Buffer.alloc(length);
  let [at, to] = [end, 0];
  while (at < block.length) {
    const tag = block[at++] as number;
    const kind = tag & 3;
    if (kind === 0) {
      const more = Math.max(0, (tag >> 2) - 59);
      const count = 1 + (more > 0 ? block.readUIntLE(at, more) : tag >> 2);
      at += more;
      to += block.copy(bytes, to, at, at + count);
      at += count;
      continue;
    }
    const count = kind === 1 ? 4 + ((tag >> 2) & 7) : 1 + (tag >> 2);
    const wide = kind === 1 ? 1 : 2 * kind - 2;
    const back = block.readUIntLE(at, wide) + (kind === 1 ? (tag >> 5) << 8 : 0);
    at += wide;
    // Byte by byte: what is copied may be part of the copy.
    for (let i = 0; i < count; i++, to++) bytes[to] = bytes[to - back] as number;
  }
  return bytes;
}
