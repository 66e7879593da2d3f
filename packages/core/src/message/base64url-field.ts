import { type Field, field, type Read, text } from "../schema/index.ts";
import { decodeBase64url, decodeBase64urlOf } from "./base64url.ts";

/** Bytes in base64url, of a given number or of any. */
export function base64url(length?: number): Field<Uint8Array> {
  const read: Read<Uint8Array> = (path, value) => {
    const found = text(path, value);
    return length === undefined ? decodeBase64url(path, found) : decodeBase64urlOf(path, length, found);
  };
  return field(read, {
    type: "string",
    pattern: length === undefined ? "^[A-Za-z0-9_-]*$" : `^[A-Za-z0-9_-]{${Math.ceil((4 * length) / 3)}}$`,
    description: length === undefined ? "base64url" : `${length} bytes in base64url`,
  });
}
