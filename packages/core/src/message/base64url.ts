import { LetheError } from "../error.ts";

/** Every platform has them; the types of ECMAScript alone do not. */
declare const btoa: (binary: string) => string;
declare const atob: (base64: string) => string;

/** Bytes in JSON and in paths: RFC 4648 §5, without padding. */
export function encodeBase64url(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");
}

/** Accepts exactly what `encodeBase64url` returns: no padding, no white space, no stray bits at the end. */
export function decodeBase64url(what: string, text: string): Uint8Array {
  try {
    const binary = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    // Whatever else there was, the other alphabet or stray bits, does not come back.
    if (encodeBase64url(bytes) === text) return bytes;
  } catch {
    // Not base64 at all.
  }
  throw new LetheError("bad-encoding", `${what} is not base64url`);
}

/** The same, of bytes whose number is known. */
export function decodeBase64urlOf(what: string, length: number, text: string): Uint8Array {
  const digits = Math.ceil((length * 4) / 3);
  if (text.length !== digits) throw new LetheError("bad-encoding", `${what} is ${length} bytes in base64url`);
  return decodeBase64url(what, text);
}
