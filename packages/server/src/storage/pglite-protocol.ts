import type { SqlValue } from "./database.ts";
import { BYTEA, readText } from "./values.ts";

/**
 * The part of PostgreSQL's protocol that this service speaks: statements that are prepared once, with bytes as bytes in
 * both directions. PGlite's own `query` prepares every time, in five exchanges, and copies large values five times.
 * `pg-protocol`, which `pg` installs, does not fit: it asks for all columns in one format and decodes every value of a
 * row as text, so reports would travel as hexadecimal digits.
 */
export interface Statement {
  readonly name: string;
  readonly columns: readonly Column[];
}

interface Column {
  readonly name: string;
  readonly type: number;
}

const BYTES = 1;
const TEXT = 0;

/** The bytes that prepare a statement under a name, and ask for its columns. */
export function prepareMessage(name: string, sql: string): Uint8Array {
  return write((to) => {
    to.message("P", () => to.name(name).name(sql).int16(0));
    to.message("D", () => to.text("S").name(name));
    to.message("S", () => to);
  });
}

/** The bytes that execute a prepared statement with these values. */
export function executeMessage({ name, columns }: Statement, values: readonly SqlValue[]): Uint8Array {
  return write((to) => {
    to.message("B", () => {
      to.name("").name(name).int16(values.length);
      for (const value of values) to.int16(value instanceof Uint8Array ? BYTES : TEXT);
      to.int16(values.length);
      for (const value of values) to.value(value);
      to.int16(columns.length);
      for (const { type } of columns) to.int16(type === BYTEA ? BYTES : TEXT);
    });
    to.message("E", () => to.name("").int32(0));
    to.message("S", () => to);
  });
}

/** The columns of a statement that was prepared. */
export function readColumns(answer: Uint8Array): Column[] {
  const columns: Column[] = [];
  for (const { kind, reader } of messagesIn(answer)) {
    if (kind !== "T") continue;
    const count = reader.int16();
    for (let i = 0; i < count; i++) {
      const name = reader.name();
      // The table, and the column's place in it.
      reader.skip(6);
      columns.push({ name, type: reader.int32() });
      // Size, modifier, format.
      reader.skip(8);
    }
  }
  return columns;
}

/** The rows that a statement returned. */
export function readRows({ columns }: Statement, answer: Uint8Array): unknown[] {
  const rows: unknown[] = [];
  for (const { kind, reader } of messagesIn(answer)) {
    if (kind !== "D") continue;
    reader.int16();
    rows.push(Object.fromEntries(columns.map(({ name, type }) => [name, readValue(type, reader.value())])));
  }
  return rows;
}

function readValue(type: number, bytes: Uint8Array | null): unknown {
  if (bytes === null || type === BYTEA) return bytes?.slice() ?? null;
  return readText(type, decoder.decode(bytes));
}

/** The messages of an answer; throws if one is an error. */
function* messagesIn(answer: Uint8Array): Generator<{ kind: string; reader: Reader }> {
  const reader = new Reader(answer);
  while (reader.at < answer.length) {
    const kind = String.fromCharCode(reader.byte());
    const end = reader.at + reader.int32();
    if (kind === "E") throw reader.error();
    yield { kind, reader };
    reader.at = end;
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

class Reader {
  at = 0;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }
  byte(): number {
    return this.#view.getUint8(this.at++);
  }
  int16(): number {
    this.at += 2;
    return this.#view.getInt16(this.at - 2);
  }
  int32(): number {
    this.at += 4;
    return this.#view.getInt32(this.at - 4);
  }
  skip(bytes: number): void {
    this.at += bytes;
  }
  name(): string {
    const end = this.#bytes.indexOf(0, this.at);
    const text = decoder.decode(this.#bytes.subarray(this.at, end));
    this.at = end + 1;
    return text;
  }
  value(): Uint8Array | null {
    const length = this.int32();
    if (length < 0) return null;
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }
  /** Of its fields, the message, the SQLSTATE, and how bad it is. */
  error(): Error {
    const fields = new Map<string, string>();
    for (let field = this.byte(); field !== 0; field = this.byte()) fields.set(String.fromCharCode(field), this.name());
    return Object.assign(new Error(fields.get("M") ?? "unknown"), { code: fields.get("C"), severity: fields.get("V") });
  }
}

/** Kept from one message to the next: most are as long as the one before. */
let buffer = new Uint8Array(1 << 16);

class Writer {
  at = 0;

  #room(bytes: number): number {
    const at = this.at;
    this.at += bytes;
    if (this.at > buffer.length) {
      const larger = new Uint8Array(2 * this.at);
      larger.set(buffer.subarray(0, at));
      buffer = larger;
    }
    return at;
  }
  #put(value: number, bytes: number, at: number): this {
    for (let i = 0; i < bytes; i++) buffer[at + i] = value >> (8 * (bytes - 1 - i));
    return this;
  }
  int16(value: number): this {
    return this.#put(value, 2, this.#room(2));
  }
  int32(value: number): this {
    return this.#put(value, 4, this.#room(4));
  }
  bytes(value: Uint8Array): this {
    const at = this.#room(value.length);
    buffer.set(value, at);
    return this;
  }
  text(value: string): this {
    return this.bytes(encoder.encode(value));
  }
  name(value: string): this {
    return this.text(value).bytes(Uint8Array.of(0));
  }
  value(value: SqlValue): this {
    if (value === null) return this.int32(-1);
    const bytes = value instanceof Uint8Array ? value : encoder.encode(String(value));
    return this.int32(bytes.length).bytes(bytes);
  }
  /** Its kind, its length, and what `body` writes. */
  message(kind: string, body: () => unknown): void {
    this.text(kind);
    const start = this.#room(4);
    body();
    this.#put(this.at - start, 4, start);
  }
}

/** The bytes are valid until the next call. */
function write(into: (writer: Writer) => void): Uint8Array {
  const writer = new Writer();
  into(writer);
  return buffer.subarray(0, writer.at);
}
