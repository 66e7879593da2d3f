import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { Answered } from "./route.ts";

/** A file as it is sent. */
export interface StaticFile {
  /** The first half of its SHA-256, hexadecimal. */
  readonly hash: string;
  readonly type: string;
  readonly plain: Uint8Array;
  /** Undefined if compression saves nothing. */
  readonly zipped: Uint8Array | undefined;
}

/** For a file whose name changes whenever its bytes do. */
export const FOR_EVER = "public, max-age=31536000, immutable";
const HASH_DIGITS = 32;

/** Prepares a file: hashes and compresses it once. */
export function staticFile(plain: Uint8Array, type: string): StaticFile {
  const hash = createHash("sha256").update(plain).digest("hex").slice(0, HASH_DIGITS);
  const zipped = gzipSync(plain, { level: 9 });
  return { hash, type, plain, zipped: zipped.length < plain.length ? zipped : undefined };
}

/**
 * The answer with a file: compressed for a client that accepts gzip, and 304 without a body for a client that has it.
 * `headers` are added to both.
 */
export function answerFile(
  { hash, type, plain, zipped }: StaticFile,
  headers: Readonly<Record<string, string>>,
  header: (name: string) => string | undefined,
): Answered {
  const sent = takesGzip(header("accept-encoding")) ? zipped : undefined;
  // Other bytes, another tag.
  const tag = sent ? `"${hash}-gzip"` : `"${hash}"`;
  const all = { ...headers, etag: tag, vary: "accept-encoding", "x-content-type-options": "nosniff" };
  if (isKnown(header("if-none-match"), tag)) return { status: 304, headers: all };
  return {
    status: 200,
    type,
    body: sent ?? plain,
    headers: sent ? { ...all, "content-encoding": "gzip" } : all,
  };
}

function takesGzip(accepted = ""): boolean {
  return accepted.split(",").some((part) => /^\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(part));
}

/** RFC 9110, 13.1.2: weak and strong tags are the same here. */
function isKnown(tags: string | undefined, tag: string): boolean {
  return tags?.split(",").some((each) => each.trim().replace(/^W\//, "") === tag || each.trim() === "*") ?? false;
}
