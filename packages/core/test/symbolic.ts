import type { AdditiveScheme } from "../src/encryption/rerandomizable.ts";

/** What is in a ciphertext, and which random scalars were added up to make its own. */
export interface Symbolic {
  readonly message: number;
  readonly scalars: ReadonlySet<number>;
}

/**
 * ElGamal on paper: every encryption and rerandomization draws a scalar that nothing else has, and a ciphertext is a
 * message and the set of scalars whose sum masks it. Under DDH, ciphertexts whose sums are independent look like
 * independent uniform pairs, whatever their messages. What is stored are places in a list of ciphertexts.
 */
export function createSymbolic() {
  const made: Symbolic[] = [];
  let scalars = 0;
  const fresh = (message: number, others: Iterable<number> = []): Symbolic => ({
    message,
    scalars: new Set([...others, scalars++]),
  });
  const bytesOf = (place: number): Uint8Array => new Uint8Array(Int32Array.of(place).buffer);
  const decode = (bytes: Uint8Array): Symbolic => made[new Int32Array(bytes.slice().buffer)[0] as number] as Symbolic;
  const scheme: AdditiveScheme<number, null, null, Symbolic> = {
    id: "symbolic",
    hidesRerandomizations: true,
    generateKeys: () => ({ publicKey: null, secretKey: null }),
    generateSecretKey: () => null,
    encrypt: (_, message) => fresh(message),
    rerandomize: (_, ciphertext) => fresh(ciphertext.message, ciphertext.scalars),
    decrypt: (_, ciphertext) => ciphertext.message,
    ciphertextBytes: 4,
    publicKeyBytes: 1,
    encode: (ciphertext) => bytesOf(made.push(ciphertext) - 1),
    decode,
    encodePublicKey: () => Uint8Array.of(0),
    decodePublicKey: () => null,
    add: (left, right) => ({
      message: left.message + right.message,
      scalars: new Set([...left.scalars, ...right.scalars]),
    }),
    scale: (factor, { message, scalars: own }) => ({ message: factor * message, scalars: own }),
  };
  return { scheme, decode };
}

/**
 * Whether each of these ciphertexts has a scalar that none before it has. Then the sums of their scalars are linearly
 * independent: one after another, each is uniform, whatever those before it are.
 */
export function areIndependent(ciphertexts: readonly Symbolic[]): boolean {
  const before = new Set<number>();
  return ciphertexts.every(({ scalars }) => {
    const isFresh = [...scalars].some((scalar) => !before.has(scalar));
    for (const scalar of scalars) before.add(scalar);
    return isFresh;
  });
}
