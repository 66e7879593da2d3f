import { LetheError } from "../error.ts";
import { requireWhole } from "../statistic/statistic.ts";
import { parseJson, quote } from "./json.ts";

/** Reads what is at a path, `undefined` if nothing is. What does not belong there is a `RangeError` whose
 * message begins with the path. */
export type Read<T> = (path: string, value: unknown) => T;
export type Fields<T> = { readonly [Name in keyof T]-?: Read<T[Name]> };
export type JsonObject = Readonly<Record<string, unknown>>;

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
    if (error instanceof RangeError) throw new LetheError("bad-encoding", error.message);
    throw error;
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
  const unknown = Object.keys(found).find((field) => !Object.hasOwn(fields, field));
  if (unknown === undefined) return;
  const near = [1, 2].flatMap((edits) => Object.keys(fields).filter((known) => isNear(unknown, known, edits)));
  const hint = near[0] === undefined ? "" : `; did you mean ${near[0]}?`;
  throw new RangeError(`${within(path, unknown)} is not a field of ${what}${hint}`);
}

/** Whether so many insertions, deletions and replacements of characters can turn one into the other. */
function isNear(a: string, b: string, edits: number): boolean {
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  const [restA, restB] = [a.slice(same), b.slice(same)];
  if (Math.max(restA.length, restB.length) <= edits) return true;
  if (edits === 0) return false;
  const [nextA, nextB] = [restA.slice(1), restB.slice(1)];
  return isNear(nextA, restB, edits - 1) || isNear(restA, nextB, edits - 1) || isNear(nextA, nextB, edits - 1);
}

function within(path: string, field: string): string {
  if (!/^\w{1,60}$/.test(field)) return `${path}[${quote(field)}]`;
  return path === "" ? field : `${path}.${field}`;
}

export function refuse(path: string, must: string, value: unknown): never {
  throw new RangeError(value === undefined ? `${path} is missing` : `${path} ${must}, not ${quote(value)}`);
}
