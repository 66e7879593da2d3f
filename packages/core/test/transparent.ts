import type { AdditiveScheme } from "../src/encryption/rerandomizable.ts";
import { LetheError } from "../src/error.ts";

/** No encryption at all: shows what an algorithm puts into its ciphertexts, hundreds of times faster. */
export const transparent: AdditiveScheme<number, null, null, number> = {
  id: "transparent",
  hidesRerandomizations: true,
  generateKeys: () => ({ publicKey: null, secretKey: null }),
  generateSecretKey: () => null,
  encrypt: (_, message) => message,
  rerandomize: (_, ciphertext) => ciphertext,
  decrypt: (_, ciphertext) => ciphertext,
  ciphertextBytes: 4,
  publicKeyBytes: 1,
  encode: (ciphertext) => new Uint8Array(Int32Array.of(ciphertext).buffer),
  decode: (bytes) => {
    if (bytes.length !== 4) throw new LetheError("bad-encoding", "not four bytes");
    return new Int32Array(bytes.slice().buffer)[0] as number;
  },
  encodePublicKey: () => Uint8Array.of(0),
  decodePublicKey: () => null,
  add: (left, right) => left + right,
  scale: (factor, ciphertext) => factor * ciphertext,
};
