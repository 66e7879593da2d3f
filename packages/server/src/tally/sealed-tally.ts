import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { deriveTallyKey, type Secret } from "@lethe/core/encryption";

/** Everything that was read from a window's reports so far. */
export interface Tally {
  /** Answers, added up: one list a statistic. */
  readonly sums: readonly (readonly number[])[];
  /** Invalid reports, and the noise that was drawn when the window was made. */
  readonly invalid: number;
}

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * A tally for the database. Each batch leaves the version before it in the database's files and logs for a while; the difference of two would
 * show the answers of a few reports, and how many of them were invalid, without noise. Sealed under a key derived from the window's
 * secret they show nothing once that is destroyed, and before that only to who could open the reports anyway.
 */
export function sealTally(windowSecret: Secret<Uint8Array>, tally: Tally): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, deriveTallyKey(windowSecret).reveal(), nonce);
  return Buffer.concat([nonce, cipher.update(JSON.stringify(tally), "utf8"), cipher.final(), cipher.getAuthTag()]);
}

export function openTally(windowSecret: Secret<Uint8Array>, sealed: Uint8Array): Tally {
  const end = sealed.length - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, deriveTallyKey(windowSecret).reveal(), sealed.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(sealed.subarray(end));
  const text = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, end)), decipher.final()]);
  return JSON.parse(text.toString("utf8")) as Tally;
}
