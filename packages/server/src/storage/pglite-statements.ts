import type { PGlite } from "@electric-sql/pglite";
import type { SqlValue } from "./database.ts";
import { executeMessage, prepareMessage, readColumns, readRows, type Statement } from "./pglite-protocol.ts";

/** A statement. Questions are answered in the order they are asked. */
export interface Question {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/**
 * Executes statements in a PGlite of this thread, each prepared once. The caller asks one question after another.
 */
export function createStatements(database: PGlite): (question: Question) => Promise<unknown[]> {
  const statements = new Map<string, Statement>();
  /** Kept from one answer to the next: most are about as long as one before. */
  let received = new Uint8Array(1 << 16);

  /**
   * Sends a message; the answer is valid until the next one. It comes in pieces: PGlite's other ways also decode every
   * value of it as text, reports included, and keep what they decoded.
   */
  async function exchange(message: Uint8Array): Promise<Uint8Array> {
    let length = 0;
    const onRawData = (piece: Uint8Array): void => {
      if (length + piece.length > received.length) {
        const larger = new Uint8Array(2 * (length + piece.length));
        larger.set(received.subarray(0, length));
        received = larger;
      }
      received.set(piece, length);
      length += piece.length;
    };
    await database.execProtocolRawStream(message, { syncToFs: false, onRawData });
    return received.subarray(0, length);
  }

  /** The texts are the program's own: there are as many as it has statements, and lengths of reports. */
  async function prepare(sql: string): Promise<Statement> {
    const name = `s${statements.size}`;
    const statement = { name, columns: readColumns(await exchange(prepareMessage(name, sql))) };
    statements.set(sql, statement);
    return statement;
  }

  /** Statements without values are rare, and may come several at a time. */
  return async ({ sql, values }) => {
    if (values.length === 0) return (await database.exec(sql)).at(-1)?.rows ?? [];
    const statement = statements.get(sql) ?? (await prepare(sql));
    return readRows(statement, await exchange(executeMessage(statement, values)));
  };
}
