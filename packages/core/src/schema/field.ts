import { LetheError, requireWhole } from "../error.ts";
import { quote } from "./quote.ts";

/** A description in JSON Schema (draft 2020-12), of the part of it that OpenAPI 3.1 and everybody understands. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/**
 * Reads what is at a path, `undefined` if nothing is. Anything else is a `RangeError` whose message begins with the
 * path.
 */
export type Read<T> = (path: string, value: unknown) => T;

/**
 * A field of a message: how it is read and checked, and the same in JSON Schema, for the description of the API.
 */
export interface Field<T> extends Read<T> {
  readonly schema: JsonSchema;
  /** Whether the field may be absent. */
  readonly isOptional?: true;
}

/** A field from its two halves. */
export function field<T>(read: Read<T>, schema: JsonSchema): Field<T> {
  return Object.assign((path: string, value: unknown): T => read(path, value), { schema });
}

/** The fields of an object. The compiler checks that they are exactly those of the type. */
export type Fields<T> = { readonly [Name in keyof T]-?: Field<T[Name]> };
/** An object as it is in JSON. */
export type JsonObject = Readonly<Record<string, unknown>>;

type AnyFields = Readonly<Record<string, Field<unknown>>>;

/** The cause of a refusal: a field that does not belong where it is, and those that do. */
export interface UnknownField {
  readonly field: string;
  readonly known: readonly string[];
}

function textThat(pattern: RegExp, must: string): Field<string> {
  return field(
    (path, value) => (typeof value === "string" && pattern.test(value) ? value : refuse(path, must, value)),
    { type: "string", pattern: pattern.source },
  );
}

/** Of tasks and metrics. */
export const name: Field<string> = textThat(
  /^[a-z][a-z0-9.-]{0,63}$/,
  "is a letter a-z and up to 63 more of a-z, 0-9, . and -",
);

/** What people call a state or a category. */
export const label: Field<string> = textThat(/^[!-~]([ -~]{0,62}[!-~])?$/, "is a text of 1 to 64 printable characters");

/** Where a server is reached. */
export const url: Field<string> = textThat(/^https?:\/\/[\x21-\x7e]{1,2000}$/, "is an http or https address");

/** A secret as a header can carry it. */
export const token: Field<string> = textThat(/^[\x21-\x7e]{1,500}$/, "is a token");

/** Any number, also an infinite one, as `1e400` is read: what states a range refuses it with the range. */
export const number: Field<number> = field(
  (path, value) => (typeof value === "number" ? value : refuse(path, "is a number", value)),
  { type: "number" },
);

/** A number without a range. It is finite: JSON would write an infinite one as null. */
export const finite: Field<number> = field(
  (path, value) => (Number.isFinite(value) ? number(path, value) : refuse(path, "is a number", value)),
  { type: "number" },
);

/** Any text. */
export const text: Field<string> = field(
  (path, value) => (typeof value === "string" ? value : refuse(path, "is a text", value)),
  { type: "string" },
);

/** True or false. */
export const boolean: Field<boolean> = field(
  (path, value) => (typeof value === "boolean" ? value : refuse(path, "is true or false", value)),
  { type: "boolean" },
);

/** A whole number in a range. */
export function whole(least: number, most: number): Field<number> {
  const isLimit = (limit: number): boolean => Math.abs(limit) < Number.MAX_SAFE_INTEGER;
  const read: Read<number> = (path, value) => {
    const found = number(path, value);
    requireWhole(path, found, least, most);
    return found;
  };
  return field(read, {
    type: "integer",
    ...(isLimit(least) && { minimum: least }),
    ...(isLimit(most) && { maximum: most }),
  });
}

/** A whole number from 0 on, that counts something or is a Unix time in seconds. */
export const count: Field<number> = whole(0, Number.MAX_SAFE_INTEGER);

/** A number from 0 to below 1. */
export const share: Field<number> = field(
  (path, value) => {
    const found = number(path, value);
    return found >= 0 && found < 1 ? found : refuse(path, "is a share from 0 to below 1", value);
  },
  { type: "number", minimum: 0, exclusiveMaximum: 1 },
);

/** A number above 0 that is not larger than this. */
export function upTo(most: number): Field<number> {
  return field(
    (path, value) => {
      const found = number(path, value);
      return found > 0 && found <= most ? found : refuse(path, `is a number above 0 and at most ${most}`, value);
    },
    { type: "number", exclusiveMinimum: 0, maximum: most },
  );
}

/** One of these words. */
export function oneOf<Name extends string>(...names: readonly Name[]): Field<Name> {
  return field(
    (path, value) =>
      names.find((known) => known === value) ??
      refuse(path, `is ${names.length > 1 ? "one of " : ""}${names.join(", ")}`, value),
    names.length === 1 ? { type: "string", const: names[0] } : { type: "string", enum: names },
  );
}

/** A field that may be absent. What stands for it then is the description's default, and is not filled in here. */
export function optional<T>(present: Field<T>, otherwise?: T): Field<T | undefined> {
  const { schema } = present;
  const either = field(
    (path, value) => (value === undefined ? undefined : present(path, value)),
    otherwise === undefined ? schema : { ...schema, default: otherwise },
  );
  return Object.assign(either, { isOptional: true as const });
}

/** A field that may be null. */
export function nullable<T>(present: Field<T>): Field<T | null> {
  return field((path, value) => (value === null ? null : present(path, value)), {
    anyOf: [present.schema, { type: "null" }],
  });
}

/** The same field, with a sentence about it in the description. */
export function described<T>(plain: Field<T>, description: string): Field<T> {
  return stricter(plain, { description });
}

/** The same field, with a description of what is checked later, when the fields of a message are looked at together. */
export function stricter<T>(plain: Field<T>, schema: JsonSchema): Field<T> {
  const { isOptional } = plain;
  return Object.assign(field(plain, { ...plain.schema, ...schema }), isOptional && { isOptional });
}

/** A list with `least` to `most` entries. */
export function list<T>(what: string, entry: Field<T>, least: number, most: number): Field<readonly T[]> {
  const range = least === most ? `${least} ` : Number.isFinite(most) ? `${least} to ${most} ` : "";
  const must = `is a list of ${range}${what}`;
  const read: Read<readonly T[]> = (path, value) => {
    if (!Array.isArray(value)) return refuse(path, must, value);
    if (value.length < least || value.length > most) throw new RangeError(`${path} ${must}, not of ${value.length}`);
    return value.map((each: unknown, i) => entry(`${path}[${i}]`, each));
  };
  return field(read, {
    type: "array",
    items: entry.schema,
    ...(least > 0 && { minItems: least }),
    ...(Number.isFinite(most) && { maxItems: most }),
  });
}

/** An object with any names, whose values are alike. */
export function record<T>(entry: Field<T>): Field<Readonly<Record<string, T>>> {
  return field(
    (path, value) =>
      Object.fromEntries(
        Object.entries(requireObject(path, value)).map(([key, each]) => [key, entry(within(path, key), each)]),
      ),
    { type: "object", propertyNames: { type: "string" }, additionalProperties: entry.schema },
  );
}

/** An object with exactly these fields. `what` names it in messages: "a metric". */
export function object<T>(what: string, fields: Fields<T>): Field<T> {
  return field((path, value) => readFields(path, requireObject(path, value), what, fields), schemaOfFields(fields));
}

/** An object of one of several forms. `choose` finds the form of an object, or refuses it. */
export function union<T>(forms: readonly Field<T>[], choose: (path: string, found: JsonObject) => Field<T>): Field<T> {
  const read: Read<T> = (path, value) => {
    const found = requireObject(path, value);
    return choose(path, found)(path, found);
  };
  return field(read, { anyOf: forms.map(({ schema }) => schema) });
}

/** The schema of an object with exactly these fields. */
export function schemaOfFields(fields: object): JsonSchema {
  const entries = Object.entries(fields as AnyFields);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])),
    required: entries.filter(([, { isOptional }]) => !isOptional).map(([name]) => name),
    additionalProperties: false,
  };
}

/** Reads a message that is a JSON object, or refuses it with a `bad-encoding` error that names the field. */
export function readMessage<T>(what: string, json: string, read: (found: JsonObject) => T): T {
  try {
    return read(requireObject(what, parseJson(what, json)));
  } catch (error) {
    throw error instanceof RangeError ? new LetheError("bad-encoding", error.message) : error;
  }
}

function parseJson(what: string, json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new RangeError(`${what} is not JSON`);
  }
}

/** What must be an object, with any fields. */
export function requireObject(path: string, value: unknown): JsonObject {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as JsonObject) : refuse(path, "is an object", value);
}

/** Reads all fields of an object, in the order in which they are described; refuses any other field. */
export function readFields<T>(path: string, found: JsonObject, what: string, fields: Fields<T>): T {
  refuseUnknown(path, found, what, fields);
  const entries = Object.entries(fields as AnyFields)
    .map(([name, read]) => [name, read(within(path, name), found[name])] as const)
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as T;
}

/** Refuses a field that is not among these; the error's cause is an `UnknownField`. */
export function refuseUnknown(path: string, found: JsonObject, what: string, fields: object): void {
  const field = Object.keys(found).find((name) => !Object.hasOwn(fields, name));
  if (field === undefined) return;
  const cause: UnknownField = { field, known: Object.keys(fields) };
  throw new RangeError(`${within(path, field)} is not a field of ${what}`, { cause });
}

function within(path: string, field: string): string {
  if (!/^\w{1,60}$/.test(field)) return `${path}[${quote(field)}]`;
  return path === "" ? field : `${path}.${field}`;
}

/** Throws the `RangeError` about a field: it is missing, or it must be something and is not. */
function refuse(path: string, must: string, value: unknown): never {
  throw new RangeError(value === undefined ? `${path} is missing` : `${path} ${must}, not ${quote(value)}`);
}
