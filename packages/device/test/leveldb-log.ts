const BLOCK_BYTES = 32_768;
const HEADER_BYTES = 7;
const [FULL, LAST] = [1, 4];
const BATCH_HEADER_BYTES = 12;
const PUT = 1;

export interface Put {
  readonly key: Buffer;
  readonly value: Buffer;
}

/**
 * Everything that was ever put into a LevelDB, from its log file, in order; what was overwritten or deleted since,
 * too. The log is made of blocks with pieces of batches: checksum, length, 16 bits, kind, then the piece
 * (https://github.com/google/leveldb/blob/main/doc/log_format.md).
 */
export function putsIn(log: Buffer): Put[] {
  const puts: Put[] = [];
  let pieces: Buffer[] = [];
  for (let at = 0; at + HEADER_BYTES <= log.length; ) {
    const left = BLOCK_BYTES - (at % BLOCK_BYTES);
    const kind = left < HEADER_BYTES ? 0 : (log[at + 6] as number);
    if (kind === 0) {
      at += left;
      continue;
    }
    const from = at + HEADER_BYTES;
    at = from + log.readUInt16LE(at + 4);
    pieces.push(log.subarray(from, at));
    if (kind !== FULL && kind !== LAST) continue;
    puts.push(...putsInBatch(Buffer.concat(pieces)));
    pieces = [];
  }
  return puts;
}

function putsInBatch(batch: Buffer): Put[] {
  const puts: Put[] = [];
  for (let at = BATCH_HEADER_BYTES; at < batch.length; ) {
    const isPut = batch[at] === PUT;
    const key = prefixed(batch, at + 1);
    at = key.end;
    if (!isPut) continue;
    const value = prefixed(batch, at);
    at = value.end;
    puts.push({ key: key.bytes, value: value.bytes });
  }
  return puts;
}

/** Bytes after their length. */
export function prefixed(from: Buffer, start: number): { readonly bytes: Buffer; readonly end: number } {
  const { value: length, end: at } = numberAt(from, start);
  return { bytes: from.subarray(at, at + length), end: at + length };
}

/** A number of which each byte has seven bits, the lowest first. */
export function numberAt(from: Buffer, start: number): { readonly value: number; readonly end: number } {
  let [at, value, unit, byte] = [start, 0, 1, 0x80];
  while (byte >= 0x80 && at < from.length) {
    byte = from[at++] as number;
    value += (byte & 0x7f) * unit;
    unit *= 128;
  }
  return { value, end: at };
}
