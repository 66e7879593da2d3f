import { Aes128Gcm, CipherSuite, DhkemX25519HkdfSha256, EncapError, HkdfSha256, HpkeError } from "@hpke/core";
import { join } from "../bytes.ts";
import { type Secret, secret } from "../encryption/secret.ts";
import { LetheError, requireLength } from "../error.ts";
import type { Randomness } from "../randomness/index.ts";
import { type ServerRole, splitSharedBits } from "../sharing/shared-bit.ts";
import { asciiBytes, lengthPrefixed, xof } from "../xof.ts";

/** What a half of a report belongs to: under anything else it cannot be unwrapped. */
export interface HalfBinding {
  readonly task: string;
  readonly window: number;
  /** The device's 16 bytes of this window. */
  readonly device: Uint8Array;
  /** The id of the report: random bytes, made when it is sealed. */
  readonly report: Uint8Array;
  readonly role: ServerRole;
}

/** HPKE (RFC 9180) in base mode: X25519, HKDF-SHA256 and AES-128-GCM, as DAP has it. */
const suite = new CipherSuite({ kem: new DhkemX25519HkdfSha256(), kdf: new HkdfSha256(), aead: new Aes128Gcm() });
/** The length of a report's id. */
export const REPORT_ID_BYTES = 16;
/** The length of a public key for wrapping. */
export const WRAPPING_KEY_BYTES = 32;
const TAG_BYTES = 16;
/** What a half's encryption draws. */
export const SEED_BYTES = 32;
/** The `info` of HPKE. */
export const WRAPPING_INFO: Uint8Array = asciiBytes("lethe report half");

/** A `CryptoKey`, a type that comes with a browser or with Node. */
type RecipientKey = Parameters<typeof suite.open>[0]["recipientKey"];

/** What a half grows by. */
export const WRAPPING_BYTES: number = WRAPPING_KEY_BYTES + TAG_BYTES;

/** What opens the halves of one window. */
export interface Unwrapping {
  /** The plaintext; undefined if it was not encrypted for this key with this additional data. */
  open(
    encapsulated: Uint8Array,
    ciphertext: Uint8Array,
    additionalData: Uint8Array,
  ): Uint8Array | undefined | Promise<Uint8Array | undefined>;
}

/** A server's keys for the halves of one window; they die with the window's secret. */
export interface WrappingKeys extends Unwrapping {
  readonly publicKey: Uint8Array;
  readonly privateKey: Secret<object>;
}

/** The seed of a server's wrapping keys for a window, from the window's secret; its user overwrites it. */
export function deriveWrappingSeed(
  windowSecret: Secret<Uint8Array>,
  { task, window, role }: Pick<HalfBinding, "task" | "window" | "role">,
): Uint8Array {
  const seed = new Uint8Array(SEED_BYTES);
  const stream = xof(
    "lethe wrapping key",
    windowSecret.reveal(),
    asciiBytes(task),
    asciiBytes(String(window)),
    asciiBytes(role),
  );
  stream(seed);
  stream.destroy();
  return seed;
}

/** A server's wrapping keys for a window, from the window's secret: always the same. They work on WebCrypto. */
export async function deriveWrappingKeys(
  windowSecret: Secret<Uint8Array>,
  of: Pick<HalfBinding, "task" | "window" | "role">,
): Promise<WrappingKeys> {
  const seed = deriveWrappingSeed(windowSecret, of);
  const { publicKey, privateKey } = await suite.kem.deriveKeyPair(exact(seed));
  seed.fill(0);
  return {
    publicKey: new Uint8Array(await suite.kem.serializePublicKey(publicKey)),
    privateKey: secret(privateKey),
    open: (encapsulated, ciphertext, additionalData) => open(privateKey, encapsulated, ciphertext, additionalData),
  };
}

async function open(
  recipientKey: RecipientKey,
  encapsulated: Uint8Array,
  ciphertext: Uint8Array,
  additionalData: Uint8Array,
): Promise<Uint8Array | undefined> {
  const recipient = { recipientKey, enc: exact(encapsulated), info: exact(WRAPPING_INFO) };
  try {
    return new Uint8Array(await suite.open(recipient, exact(ciphertext), exact(additionalData)));
  } catch (error) {
    if (error instanceof HpkeError) return undefined;
    throw error;
  }
}

/** What is kept of a sealed report, as the halves of both servers. */
export type Split = (sealed: Uint8Array) => Readonly<Record<ServerRole, Uint8Array>>;

/** Both halves of the shared bits of a report, or of what `splitOf` splits, each for its server. */
export async function wrapReport(
  publicKeys: Readonly<Record<ServerRole, Uint8Array>>,
  binding: Omit<HalfBinding, "role">,
  sharedBits: Uint8Array,
  random: Randomness,
  splitOf: Split = splitSharedBits,
): Promise<Record<ServerRole, Uint8Array>> {
  const halves = splitOf(sharedBits);
  const wrap = (role: ServerRole): Promise<Uint8Array> =>
    wrapHalf(publicKeys[role], { ...binding, role }, halves[role], random);
  return { leader: await wrap("leader"), helper: await wrap("helper") };
}

/**
 * The whole half, wrapped for one server: the leader, who passes it on, can neither alter it nor use it for anything
 * else.
 */
async function wrapHalf(
  publicKey: Uint8Array,
  binding: HalfBinding,
  half: Uint8Array,
  random: Randomness,
): Promise<Uint8Array> {
  requireLength("a wrapping key", publicKey, WRAPPING_KEY_BYTES);
  const ephemeral = new Uint8Array(SEED_BYTES);
  random(ephemeral);
  try {
    const { enc, ct } = await suite.seal(
      {
        recipientPublicKey: await suite.kem.deserializePublicKey(exact(publicKey)),
        info: exact(WRAPPING_INFO),
        ekm: ephemeral.buffer,
      },
      exact(half),
      exact(boundTo(binding)),
    );
    return join([new Uint8Array(enc), new Uint8Array(ct)]);
  } catch (error) {
    if (error instanceof EncapError) throw new LetheError("bad-encoding", "this is no wrapping key", { cause: error });
    throw error;
  } finally {
    ephemeral.fill(0);
  }
}

/** Undefined if it is not what was wrapped for this server, device, report, task and window. */
export async function unwrapHalf(
  keys: Unwrapping,
  binding: HalfBinding,
  wrapped: Uint8Array,
): Promise<Uint8Array | undefined> {
  if (wrapped.length < WRAPPING_BYTES) return undefined;
  const [encapsulated, ciphertext] = [wrapped.subarray(0, WRAPPING_KEY_BYTES), wrapped.subarray(WRAPPING_KEY_BYTES)];
  return keys.open(encapsulated, ciphertext, boundTo(binding));
}

/** The additional data: each part with its length, so that no two bindings give the same. */
function boundTo({ task, window, device, report, role }: HalfBinding): Uint8Array {
  return join(lengthPrefixed([asciiBytes(task), asciiBytes(String(window)), device, report, asciiBytes(role)]));
}

/** A copy in a separate buffer, which is what the library takes. */
function exact(bytes: Uint8Array): ArrayBuffer {
  return bytes.slice().buffer as ArrayBuffer;
}
