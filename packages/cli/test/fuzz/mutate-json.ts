import type { Choose } from "./choose.ts";
import { mutatedBytes } from "./mutate-bytes.ts";

/** Names that an object has although nobody gave them to it. */
const INHERITED = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf", "then", "length"];

/** Values as they stand in a JSON text, most of them of another type than the one they replace. */
const RAW = [
  ...'null true false {} [] "" 0 -0 -1 1 2 0.5 1.5 1e-7 1E+2 -1e308 1e308 1e400 -1e400 5e-324 00 1. .5 +1'.split(" "),
  ...[2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 2 ** 64, 1e21].map(String),
  "123456789012345678901234567890",
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\u0000"',
  '"\\u202e"',
  '"\ufeff"',
  '"0"',
  '"true"',
  '"1e400"',
  "[null]",
  "[[[]]]",
  '{"__proto__":null}',
  '{"length":4294967296}',
  '{"toString":1,"valueOf":2}',
  "NaN",
  "Infinity",
  "undefined",
  ...INHERITED.map((name) => JSON.stringify(name)),
];

type Found = null | boolean | number | string | Found[] | { readonly [name: string]: Found };

/** A change at one place of the tree, told as the text that stands there then. */
type Change = (text: string, value: Found) => string;

const DEPTHS = [10, 100, 1000, 5000];

function changedNumber(value: number, choose: Choose): string {
  const near = [value + 1, value - 1, -value, value * 2, value / 2, value + 0.5, value * 1e9, 2 ** 53 - value];
  return choose.chance(0.7) ? String(choose.oneOf(near)) : `${value}${choose.oneOf(["0", ".0", "e1", "e400", "n"])}`;
}

function changedText(value: string, choose: Choose): string {
  if (/^[[{]/.test(value) && choose.chance(0.7)) return JSON.stringify(mutatedText([value], choose));
  const at = choose.below(value.length + 1);
  const odd = choose.oneOf([
    "=",
    "-",
    "_",
    "+",
    "/",
    " ",
    "\n",
    ".",
    ":",
    "A",
    "é",
    "\u0000",
    "\ud83d",
    "😀",
    "\u2028",
  ]);
  return JSON.stringify(
    choose.oneOf([
      value.slice(0, at) + odd + value.slice(at),
      value.slice(0, at) + odd + value.slice(at + 1),
      value.slice(0, at),
      value.slice(at),
      value + value,
      value.toUpperCase(),
      value.slice(0, -1) + String.fromCharCode(value.charCodeAt(value.length - 1) ^ 1),
      value.repeat(choose.oneOf([2, 10, choose.chance(0.01) ? 10_000 : 1])),
    ]),
  );
}

function changeFor(choose: Choose, others: readonly string[]): Change {
  return (text, value) => {
    const kind = choose.below(10);
    if (kind < 2 && typeof value === "number") return changedNumber(value, choose);
    if (kind < 4 && typeof value === "string") return changedText(value, choose);
    if (kind < 4) return choose.oneOf(RAW);
    if (kind === 4) return `[${text}]`;
    if (kind === 5) return JSON.stringify(text);
    if (kind === 6) return choose.oneOf(others);
    if (kind === 7 && choose.chance(0.1)) {
      const depth = choose.oneOf(DEPTHS);
      return choose.chance(0.5)
        ? "[".repeat(depth) + text + "]".repeat(depth)
        : '{"a":'.repeat(depth) + text + "}".repeat(depth);
    }
    return choose.oneOf(RAW);
  };
}

/** Writes a tree with changes at some of its nodes, which are numbered in the order in which they are written. */
function written(tree: Found, changes: ReadonlyMap<number, Change>, choose: Choose, names: readonly string[]): string {
  let node = 0;
  const write = (value: Found): string => {
    const change = changes.get(node++);
    let text: string;
    if (Array.isArray(value)) {
      const entries = value.map(write);
      if (change && choose.chance(0.3)) return `[${rearranged(entries, choose).join(",")}]`;
      text = `[${entries.join(",")}]`;
    } else if (typeof value === "object" && value !== null) {
      const fields = Object.entries(value).map(([name, each]) => [JSON.stringify(name), write(each)] as const);
      if (change && choose.chance(0.7)) return objectOf(renamed(fields, choose, names), choose);
      text = objectOf(fields, choose);
    } else {
      text = JSON.stringify(value);
    }
    return change ? change(text, value) : text;
  };
  return write(tree);
}

function rearranged(entries: readonly string[], choose: Choose): readonly string[] {
  const times = choose.oneOf([2, 3, choose.chance(0.05) ? 3000 : 4]);
  const many = Array.from({ length: times }, () => entries).flat();
  return choose.oneOf([entries.slice(1), entries.slice(0, -1), many, entries.toReversed(), [...entries, "null"]]);
}

type Field = readonly [name: string, value: string];

function renamed(fields: readonly Field[], choose: Choose, names: readonly string[]): readonly Field[] {
  const at = choose.below(Math.max(1, fields.length));
  const [name = '"a"', value = "1"] = fields[at] ?? [];
  const other = choose.chance(0.5) ? JSON.stringify(choose.oneOf(INHERITED)) : choose.oneOf(names);
  const without = fields.filter((_, i) => i !== at);
  return choose.oneOf([
    without,
    [...without, [other, value]],
    [...fields, [other, value]],
    [...fields, [name, choose.oneOf(RAW)]],
    [[name, choose.oneOf(RAW)], ...fields],
    [...fields, [JSON.stringify("extra"), choose.oneOf(RAW)]],
    fields.toReversed(),
  ]);
}

function objectOf(fields: readonly Field[], choose: Choose): string {
  const space = choose.chance(0.03) ? choose.oneOf([" ", "\n", "\t", "\r\n", "\ufeff", "\u00a0", "/**/"]) : "";
  return `{${space}${fields.map(([name, value]) => `${name}:${value}`).join(`,${space}`)}${space}}`;
}

interface Parsed {
  readonly tree: Found;
  readonly nodes: number;
  /** All values of the tree and all names, as they stand in a text. */
  readonly values: readonly string[];
  readonly names: readonly string[];
}

const known = new Map<string, Parsed | undefined>();
const MOST_KNOWN = 200;

function parsed(text: string): Parsed | undefined {
  if (known.has(text)) return known.get(text);
  if (known.size > MOST_KNOWN) known.clear();
  let result: Parsed | undefined;
  try {
    const tree = JSON.parse(text) as Found;
    const values: string[] = [];
    const names: string[] = ['"a"'];
    const walk = (value: Found): void => {
      values.push(JSON.stringify(value));
      if (typeof value !== "object" || value === null) return;
      if (!Array.isArray(value)) names.push(...Object.keys(value).map((name) => JSON.stringify(name)));
      for (const each of Object.values(value)) walk(each);
    };
    walk(tree);
    result = { tree, nodes: values.length, values, names };
  } catch {
    result = undefined;
  }
  known.set(text, result);
  return result;
}

/** One of the examples, which are JSON texts, with changes to its values, its names and its form. */
export function mutatedText(examples: readonly string[], choose: Choose): string {
  const text = choose.oneOf(examples);
  const found = parsed(text);
  const other = parsed(choose.oneOf(examples));
  if (!found || !other) return choose.oneOf(RAW);
  const change = changeFor(choose, other.values);
  const edits = choose.oneOf([1, 1, 1, 2, 2, 3, 5]);
  const changes = new Map(Array.from({ length: edits }, () => [choose.below(found.nodes), change]));
  return written(found.tree, changes, choose, other.names);
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The same as bytes; one in six has its bytes changed, too. */
export function mutatedJson(examples: readonly Uint8Array[], choose: Choose): Uint8Array {
  if (choose.chance(0.1)) return mutatedBytes(examples, choose);
  const text = encoder.encode(
    mutatedText(
      examples.map((bytes) => decoder.decode(bytes)),
      choose,
    ),
  );
  return choose.chance(0.07) ? mutatedBytes([text], choose) : text;
}
