import type { Randomness } from "../randomness/index.ts";

/** The keys of one device. */
export interface KeyPair<PublicKey, SecretKey> {
  readonly publicKey: PublicKey;
  readonly secretKey: SecretKey;
}

/**
 * Public-key encryption whose ciphertexts anybody can rerandomize (paper, def:pke and def:rerandomizable).
 *
 * Guarantees: `decrypt` inverts `encrypt`, and still does after as many `rerandomize` as the scheme's
 * parameters allow; without the secret key, encryptions of two messages look alike, and so do
 * rerandomizations of two ciphertexts. Not guaranteed: that the *key holder* cannot find out how often a
 * ciphertext was rerandomized (ElGamal hides it, lattices do not), nor that a ciphertext cannot be altered:
 * keys belong to devices because rerandomizable means malleable (`device-key.ts`).
 */
export interface RerandomizableScheme<Message, PublicKey, SecretKey, Ciphertext> {
  /** Names scheme and parameters; keys are derived under it. */
  readonly id: string;
  /** Whether Rerandomize^t(Enc(m)) has the distribution of Enc(m) even for the key holder. */
  readonly hidesRerandomizations: boolean;

  /**
   * Takes all its randomness from `random`, so the same stream gives the same keys. The secret key comes
   * first: `generateSecretKey` draws a prefix of what `generateKeys` draws, and returns the same secret key.
   */
  generateKeys(random: Randomness): KeyPair<PublicKey, SecretKey>;
  generateSecretKey(random: Randomness): SecretKey;

  encrypt(publicKey: PublicKey, message: Message, random: Randomness): Ciphertext;
  rerandomize(publicKey: PublicKey, ciphertext: Ciphertext, random: Randomness): Ciphertext;
  decrypt(secretKey: SecretKey, ciphertext: Ciphertext): Message;

  /** Fixed sizes. `decode…` accepts exactly what `encode…` returns, else `LetheError` `bad-encoding`. */
  readonly ciphertextBytes: number;
  readonly publicKeyBytes: number;
  encode(ciphertext: Ciphertext): Uint8Array;
  decode(bytes: Uint8Array): Ciphertext;
  encodePublicKey(publicKey: PublicKey): Uint8Array;
  decodePublicKey(bytes: Uint8Array): PublicKey;
}

/** A scheme over a group of messages in which sums can be formed under encryption (paper, def:phe: ⊕, Φ_*). */
export interface AdditiveScheme<Message, PublicKey, SecretKey, Ciphertext>
  extends RerandomizableScheme<Message, PublicKey, SecretKey, Ciphertext> {
  /** Decrypts to the sum of the two messages. */
  add(left: Ciphertext, right: Ciphertext): Ciphertext;
  /** Decrypts to `factor` times the message; `factor` is public. */
  scale(factor: number, ciphertext: Ciphertext): Ciphertext;
}

/** What a device needs of a scheme: nothing that opens, nothing that adds. */
export interface DeviceScheme<PublicKey, Ciphertext>
  extends Omit<
    RerandomizableScheme<number, PublicKey, never, Ciphertext>,
    "generateKeys" | "generateSecretKey" | "decrypt" | "encodePublicKey" | "decodePublicKey"
  > {
  /** `isUsedOften` unless what makes a key faster to use would not be worth its memory. */
  decodePublicKey(bytes: Uint8Array, isUsedOften?: boolean): PublicKey;
}
