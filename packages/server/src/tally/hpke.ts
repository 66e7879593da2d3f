import {
  createDecipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  type KeyObject,
} from "node:crypto";
import type { Secret } from "@lethe/core/encryption";
import { deriveWrappingSeed, type ServerRole, type Unwrapping, WRAPPING_INFO } from "@lethe/core/two-server";

/*
 * HPKE (RFC 9180) in base mode with X25519, HKDF-SHA256 and AES-128-GCM, the receiver's part, on Node's own primitives:
 * through WebCrypto, as core and devices do it, opening a half takes four times as long. Letters and labels are the RFC's.
 */
const KEM_SUITE = suiteId("KEM", 0x0020);
const HPKE_SUITE = suiteId("HPKE", 0x0020, 0x0001, 0x0001);
const NOTHING = new Uint8Array();
const MODE_BASE = Uint8Array.of(0);
const [HASH_BYTES, KEY_BYTES, NONCE_BYTES, TAG_BYTES] = [32, 16, 12, 16] as const;
const CIPHER = "aes-128-gcm";
/** What a private key's 32 bytes follow in DER (RFC 8410, §7). */
const PRIVATE_KEY_PREFIX = Buffer.from("302e020100300506032b656e04220420", "hex");

/** A server's keys for the halves of one window. */
export interface NodeWrappingKeys extends Unwrapping {
  readonly publicKey: Uint8Array;
}

/** The same keys as core's `deriveWrappingKeys` derives. */
export function deriveNodeWrappingKeys(
  windowSecret: Secret<Uint8Array>,
  of: { readonly task: string; readonly window: number; readonly role: ServerRole },
): NodeWrappingKeys {
  const seed = deriveWrappingSeed(windowSecret, of);
  const privateKey = deriveKeyPair(seed);
  seed.fill(0);
  const { x = "" } = createPublicKey(privateKey).export({ format: "jwk" });
  const publicKey = Uint8Array.from(Buffer.from(x, "base64url"));
  const context = Buffer.concat([
    MODE_BASE,
    labeledExtract(HPKE_SUITE, NOTHING, "psk_id_hash", NOTHING),
    labeledExtract(HPKE_SUITE, NOTHING, "info_hash", WRAPPING_INFO),
  ]);

  function open(enc: Uint8Array, ciphertext: Uint8Array, aad: Uint8Array): Uint8Array | undefined {
    const dh = sharedPoint(privateKey, enc);
    if (!dh || ciphertext.length < TAG_BYTES) return undefined;
    // Decap, ExtractAndExpand.
    const eaePrk = labeledExtract(KEM_SUITE, NOTHING, "eae_prk", dh);
    const kemContext = Buffer.concat([enc, publicKey]);
    const sharedSecret = labeledExpand(KEM_SUITE, eaePrk, "shared_secret", kemContext, HASH_BYTES);
    // KeySchedule; the first message has sequence number 0, so its nonce is the base nonce.
    const secret = labeledExtract(HPKE_SUITE, sharedSecret, "secret", NOTHING);
    const key = labeledExpand(HPKE_SUITE, secret, "key", context, KEY_BYTES);
    const nonce = labeledExpand(HPKE_SUITE, secret, "base_nonce", context, NONCE_BYTES);
    const decipher = createDecipheriv(CIPHER, key, nonce);
    for (const used of [dh, eaePrk, sharedSecret, secret, key]) used.fill(0);
    decipher.setAAD(aad);
    decipher.setAuthTag(ciphertext.subarray(-TAG_BYTES));
    const plaintext = decipher.update(ciphertext.subarray(0, -TAG_BYTES));
    try {
      decipher.final();
      return Uint8Array.from(plaintext);
    } catch {
      return undefined; // the tag is another
    }
  }

  return { publicKey, open };
}

function suiteId(name: string, ...ids: readonly number[]): Buffer {
  return Buffer.concat([Buffer.from(name), Buffer.from(ids.flatMap((id) => [id >> 8, id & 0xff]))]);
}

function deriveKeyPair(ikm: Uint8Array): KeyObject {
  const dkpPrk = labeledExtract(KEM_SUITE, NOTHING, "dkp_prk", ikm);
  const sk = labeledExpand(KEM_SUITE, dkpPrk, "sk", NOTHING, HASH_BYTES);
  const der = Buffer.concat([PRIVATE_KEY_PREFIX, sk]);
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  for (const used of [dkpPrk, sk, der]) used.fill(0);
  return privateKey;
}

/** Undefined for points of small order, with which the shared secret would be zero (RFC 9180, §7.1.4). */
function sharedPoint(privateKey: KeyObject, enc: Uint8Array): Buffer | undefined {
  // Six times as fast as from DER.
  const jwk = { kty: "OKP", crv: "X25519", x: Buffer.from(enc).toString("base64url") };
  const publicKey = createPublicKey({ key: jwk, format: "jwk" });
  try {
    return diffieHellman({ privateKey, publicKey });
  } catch {
    return undefined;
  }
}

function labeledExtract(suite: Buffer, salt: Uint8Array, label: string, ikm: Uint8Array): Buffer {
  return hmac(salt, "HPKE-v1", suite, label, ikm);
}

/** Of at most one block of HKDF-Expand. */
function labeledExpand(suite: Buffer, prk: Uint8Array, label: string, info: Uint8Array, length: number): Buffer {
  return hmac(prk, Uint8Array.of(0, length), "HPKE-v1", suite, label, info, Uint8Array.of(1)).subarray(0, length);
}

function hmac(key: Uint8Array, ...parts: readonly (Uint8Array | string)[]): Buffer {
  return createHmac("sha256", key)
    .update(Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part))))
    .digest();
}
