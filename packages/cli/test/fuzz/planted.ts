import { LetheError } from "@lethe/core/error";
import { decodeBase64url, encodeBase64url } from "@lethe/core/message";
import type { Target } from "./target.ts";

/*
 * Copies of how our decoders work, each with one bug of a kind that decoders have. They show whether a fuzzer finds such bugs, and
 * after how many inputs. Without their bugs they are correct, which the test shows, too.
 */

/** The bugs, in the order of the table in docs/fuzzing.md. */
export const BUGS = [
  "off by one",
  "missing version check",
  "unchecked count",
  "non-canonical encoding",
  "one byte value",
  "quadratic loop",
  "prototype lookup",
  "integer overflow",
  "trailing byte",
  "swallowed error",
] as const;
/** One of them. */
export type Bug = (typeof BUGS)[number];

/** Those that about one input in 100,000 reaches. */
export const RARE_BUGS: readonly Bug[] = ["one byte value", "quadratic loop"];

const HEADER_BYTES = 6;
const ID_BYTES = 16;

interface Row {
  readonly id: Uint8Array;
  readonly kind: string;
  readonly note: string;
}

const KINDS = Array.from({ length: 256 }, (_, i) => `kind ${i}`);
const KINDS_BUT_ONE = KINDS.map((kind, i) => (i === 0xa7 ? (undefined as unknown as string) : kind));

function refuse(what: string): never {
  throw new LetheError("bad-encoding", what);
}

/** Version, kind, the number of rows; per row an id, a kind, the length of a JSON text, 16 bits, and the text. */
function encodeRows(rows: readonly Row[]): Uint8Array {
  const parts = rows.map(({ id, kind, note }) => {
    const text = new TextEncoder().encode(note);
    return Uint8Array.of(...id, KINDS.indexOf(kind), text.length & 255, text.length >> 8, ...text);
  });
  const head = new Uint8Array(HEADER_BYTES);
  head.set([1, 0x50]);
  new DataView(head.buffer).setUint32(2, rows.length, true);
  return new Uint8Array(Buffer.concat([head, ...parts]));
}

function decodeRows(bytes: Uint8Array, bug: Bug | undefined): Row[] {
  if (bytes.length < HEADER_BYTES) refuse("too short");
  if (bug !== "missing version check" && bytes[0] !== 1) refuse("another version");
  if (bytes[1] !== 0x50) refuse("another kind");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const count = view.getUint32(2, true);
  if (bug === "unchecked count") new Uint8Array(count);
  const least = bug === "integer overflow" ? (count * (ID_BYTES + 3)) | 0 : count * (ID_BYTES + 3);
  if (least > bytes.length - HEADER_BYTES) refuse("too few rows");
  const rows: Row[] = [];
  let at = HEADER_BYTES;
  for (let row = 0; row < count && (bug !== "integer overflow" || at < bytes.length); row++) {
    if (at + ID_BYTES + 3 > bytes.length) refuse("a row is too short");
    const length = view.getUint16(at + ID_BYTES + 1, true);
    const end = at + ID_BYTES + 3 + length;
    if (end > bytes.length + (bug === "off by one" ? 1 : 0)) refuse("a text is too short");
    const kinds = bug === "one byte value" ? KINDS_BUT_ONE : KINDS;
    const kind = (kinds[bytes[at + ID_BYTES] as number] as string).slice();
    rows.push({ id: bytes.slice(at, at + ID_BYTES), kind, note: noteIn(bytes.subarray(end - length, end), bug) });
    at = Math.min(end, bytes.length);
  }
  if (bug !== "trailing byte" && at !== bytes.length) refuse("there is more");
  return rows;
}

function noteIn(bytes: Uint8Array, bug: Bug | undefined): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    JSON.parse(text);
    return text;
  } catch {
    return bug === "swallowed error" ? "{}" : refuse("a text is not JSON");
  }
}

const ROWS = [1, 2, 3].map((n) => ({
  id: new Uint8Array(ID_BYTES).fill(n),
  kind: KINDS[n] as string,
  note: JSON.stringify({ n, why: "because" }),
}));

function rowsWith(bug: Bug | undefined): Omit<Target, "name"> {
  return {
    covers: [],
    kind: "bytes",
    examples: [0, 1, 3].map((count) => encodeRows(ROWS.slice(0, count))),
    errors: ["bad-encoding"],
    run: (input) => encodeRows(decodeRows(input, bug)),
  };
}

/** As `decodeBase64url`, which looks whether what it decoded is written as it was. */
function base64With(bug: Bug | undefined): Omit<Target, "name"> {
  return {
    covers: [],
    kind: "text",
    examples: [1, 2, 16, 32].map((length) => Buffer.from(encodeBase64url(new Uint8Array(length).fill(77)))),
    errors: ["bad-encoding"],
    run: (input) => {
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(input);
      if (!bug) return Buffer.from(encodeBase64url(decodeBase64url("a text", text)));
      if (!/^[\w-]*$/.test(text) || text.length % 4 === 1) refuse("not base64url");
      return Buffer.from(encodeBase64url(Buffer.from(text, "base64url")));
    },
  };
}

const NOISE: Readonly<Record<string, { readonly sigma: number }>> = { none: { sigma: 0 }, much: { sigma: 9 } };

/** As a field of a task that names one of several things. */
function nameWith(bug: Bug | undefined): Omit<Target, "name"> {
  return {
    covers: [],
    kind: "json",
    examples: ["none", "much"].map((noise) => Buffer.from(JSON.stringify({ task: "a", metrics: [{ noise }] }))),
    errors: ["bad-encoding"],
    run: (input) => {
      let found: { metrics?: { noise?: unknown }[] };
      try {
        found = JSON.parse(new TextDecoder().decode(input));
      } catch {
        return refuse("not JSON");
      }
      if (!Array.isArray(found?.metrics)) return refuse("no metrics");
      for (const metric of found.metrics) {
        const noise = metric?.noise;
        if (typeof noise !== "string") return refuse("no noise");
        const known = bug || Object.hasOwn(NOISE, noise) ? NOISE[noise] : undefined;
        if (known === undefined) return refuse("unknown noise");
        known.sigma.toFixed();
      }
      return undefined;
    },
  };
}

/** Looks for the place of a mistake in a text: for each bracket the one that closes it. */
function bracketsWith(bug: Bug | undefined): Omit<Target, "name"> {
  return {
    covers: [],
    kind: "json",
    examples: ['[[1,2],["a",[]]]', '{"a":[1,[2,{"b":[]}]]}'].map((text) => Buffer.from(text)),
    errors: ["bad-encoding"],
    run: (input) => {
      const open: number[] = [];
      for (let at = 0; at < input.length; at++) {
        if (input[at] === 0x5b) {
          open.push(at);
          if (bug && nextClosing(input, at) === undefined) continue;
        }
        if (input[at] === 0x5d && open.pop() === undefined) return refuse("a bracket too many");
      }
      return open.length > 0 ? refuse("a bracket is open") : undefined;
    },
  };
}

function nextClosing(input: Uint8Array, from: number): number | undefined {
  let depth = 0;
  for (let at = from; at < input.length; at++) {
    if (input[at] === 0x5b) depth++;
    if (input[at] === 0x5d && --depth === 0) return at;
  }
  return undefined;
}

/** The decoder in which this bug is planted, or the same without it. */
export function plantedTarget(bug: Bug, isPlanted: boolean): Target {
  const planted = isPlanted ? bug : undefined;
  const make =
    bug === "non-canonical encoding"
      ? base64With
      : bug === "prototype lookup"
        ? nameWith
        : bug === "quadratic loop"
          ? bracketsWith
          : rowsWith;
  return { name: bug, ...make(planted) };
}
