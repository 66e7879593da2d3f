import { LetheError } from "../error.ts";

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Bytes in JSON and in paths: RFC 4648 §5, without padding. */
export function encodeBase64url(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const group = ((bytes[i] as number) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    const digits = Math.min(4, bytes.length - i + 1);
    for (let d = 0; d < digits; d++) text += DIGITS.charAt((group >> (18 - 6 * d)) & 63);
  }
  return text;
}

/** Accepts exactly what `encodeBase64url` returns: no padding, no white space, no stray bits at the end. */
export function decodeBase64url(what: string, text: string): Uint8Array {
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let bits = 0;
  let held = 0;
  let at = 0;
  for (const digit of text) {
    bits = (bits << 6) | DIGITS.indexOf(digit);
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes[at++] = bits >> held;
    }
  }
  // Whatever else there was, foreign characters or stray bits, does not come back.
  if (encodeBase64url(bytes) !== text) throw new LetheError("bad-encoding", `${what} is not base64url`);
  return bytes;
}

/** The same, of bytes whose number is known. */
export function decodeBase64urlOf(what: string, length: number, text: string): Uint8Array {
  const digits = Math.ceil((length * 4) / 3);
  if (text.length !== digits) throw new LetheError("bad-encoding", `${what} is ${length} bytes in base64url`);
  return decodeBase64url(what, text);
}
