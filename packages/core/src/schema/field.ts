import { LetheError } from "../error.ts";
import { requireWhole } from "../statistic/statistic.ts";
import { quote } from "./quote.ts";

/** Reads what is at a path, `undefined` if nothing is. What does not belong there is a `RangeError` whose
 * message begins with the path. */
export type Read<T> = (path: string, value: unknown) => T;
export type Fields<T> = { readonly [Name in keyof T]-?: Read<T[Name]> };
export type JsonObject = Readonly<Record<string, unknown>>;

/** The cause of a refusal: a field that does not belong where it is, and those that do. */
export interface UnknownField {
  readonly field: string;
  readonly known: readonly string[];
}

/** Of tasks and metrics. */
export const name: Read<string> = (path, value) => {
  if (typeof value === "string" && /^[a-z][a-z0-9.-]{0,63}$/.test(value)) return value;
  return refuse(path, "is a letter a-z and up to 63 more of a-z, 0-9, . and -", value);
};

export const number: Read<number> = (path, value) =>
  typeof value === "number" ? value : refuse(path, "is a number", value);

export const text: Read<string> = (path, value) =>
  typeof value === "string" ? value : refuse(path, "is a text", value);

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

export function whole(least: number, most: number): Read<number> {
  return (path, value) => {
    const found = number(path, value);
    requireWhole(path, found, least, most);
    return found;
  };
}

export function oneOf<Name extends string>(...names: readonly Name[]): Read<Name> {
  return (path, value) =>
    names.find((known) => known === value) ??
    refuse(path, `is ${names.length > 1 ? "one of " : ""}${names.join(", ")}`, value);
}

export function optional<T>(read: Read<T>, otherwise: T): Read<T> {
  return (path, value) => (value === undefined ? otherwise : read(path, value));
}

export function list<T>(what: string, read: Read<T>, least: number, most: number): Read<readonly T[]> {
  const range = least === most ? `${least} ` : Number.isFinite(most) ? `${least} to ${most} ` : "";
  const must = `is a list of ${range}${what}`;
  return (path, value) => {
    if (!Array.isArray(value)) return refuse(path, must, value);
    if (value.length < least || value.length > most) throw new RangeError(`${path} ${must}, not of ${value.length}`);
    return value.map((entry: unknown, i) => read(`${path}[${i}]`, entry));
  };
}

export function requireObject(path: string, value: unknown): JsonObject {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as JsonObject) : refuse(path, "is an object", value);
}

export function readFields<T>(path: string, found: JsonObject, what: string, fields: Fields<T>): T {
  refuseUnknown(path, found, what, fields);
  const entries = Object.entries<Read<unknown>>(fields)
    .map(([field, read]) => [field, read(within(path, field), found[field])] as const)
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as T;
}

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

export function refuse(path: string, must: string, value: unknown): never {
  throw new RangeError(value === undefined ? `${path} is missing` : `${path} ${must}, not ${quote(value)}`);
}
