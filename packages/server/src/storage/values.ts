/** Object ids of PostgreSQL's types. Values of other types are given as text. */
export const BYTEA = 17;
const [BOOL, INT8, INT2, INT4, FLOAT8] = [16, 20, 21, 23, 701];

/** A value that came as text; bytes do not come this way. */
export function readText(type: number, text: string): unknown {
  if (type === BOOL) return text === "t";
  if (type === FLOAT8) return Number(text);
  if (type !== INT8 && type !== INT2 && type !== INT4) return text;
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError("the database holds a number that is too large");
  return value;
}
