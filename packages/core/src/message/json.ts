import { quote } from "../schema/quote.ts";

/** More than `quote` shows. */
const LONGEST_WORD = 100;

/**
 * Any JSON value that a person wrote. If the text is not JSON, a `RangeError` that begins with `what` says where the
 * mistake is, which most engines do not. No library does this here, because `JSON.parse` alone must decide what is
 * JSON: a second parser, such as the fault-tolerant `jsonc-parser`, could disagree with it. The lines below only look
 * for the place.
 */
export function parseJson(what: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const position = jsonMistake(text);
    const lines = text.slice(0, position).split("\n");
    const place = `line ${lines.length}, column ${(lines.at(-1) as string).length + 1}`;
    const [unexpected] = /^(?:[^\s,:[\]{}]+|.|$)/su.exec(text.slice(position, position + LONGEST_WORD)) ?? [""];
    const mistake =
      unexpected === "" ? `it ends too early, at ${place}` : `unexpected ${quote(unexpected)} at ${place}`;
    throw new RangeError(`${what} is not JSON: ${mistake}`);
  }
}

const JSON_SPACE = /[ \t\n\r]*/y;
const JSON_MARK = /[{}[\],:]/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON strings have none
const JSON_STRING = /"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\x00-\x1f]*)*"/y;
const JSON_WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** The start of the first token that is malformed or out of place, or the text's length if it lacks its end. */
function jsonMistake(text: string): number {
  let position = 0;
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = position;
    const found = pattern.test(text);
    if (found) position = pattern.lastIndex;
    return found;
  };
  // What may come next, a character each: "s" is a string, "w" a number or word.
  const value = "{[sw";
  const closers: string[] = [];
  let allowed = value;
  for (;;) {
    skip(JSON_SPACE);
    const start = position;
    const kind = skip(JSON_STRING) ? "s" : skip(JSON_WORD) ? "w" : skip(JSON_MARK) ? text.charAt(start) : "";
    if (kind === "" || !allowed.includes(kind)) return start;
    if (kind === "{") {
      closers.push("}");
      allowed = "s}";
    } else if (kind === "[") {
      closers.push("]");
      allowed = `${value}]`;
    } else if (kind === ":") {
      allowed = value;
    } else if (kind === ",") {
      allowed = closers.at(-1) === "}" ? "s" : value;
    } else if (kind === "s" && !allowed.includes("w")) {
      allowed = ":";
    } else {
      if (kind === closers.at(-1)) closers.pop();
      allowed = closers.length > 0 ? `,${closers.at(-1)}` : "";
    }
  }
}
