import { createPrivateKey, createPublicKey, type KeyObject, randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { type Secret, secret, stepWindowRatchet, WINDOW_SECRET_BYTES } from "@lethe/core/encryption";
import { LetheError } from "@lethe/core/error";
import { decodeBase64urlOf, encodeBase64url, encodeOperatorKey } from "@lethe/core/message";
import { z } from "zod";

/**
 * All secrets of a tally, outside of the database and its backups: the operator's signing key, the ratchet, and the
 * secrets of windows that are not released yet.
 */
export interface KeyFile {
  readonly signingKey: KeyObject;
  /** As devices pin it. */
  readonly operatorKey: string;
  /** Undefined if it was never made, or is destroyed. */
  windowSecret(task: string, window: number): Secret<Uint8Array> | undefined;
  /** The secret of a window, made by one step of the ratchet if there is none; it is on disk when this returns. */
  openWindow(task: string, window: number): Secret<Uint8Array>;
  /** Afterwards nothing that was encrypted for this window can be opened. */
  destroyWindow(task: string, window: number): void;
  /** Those whose secret is still there. */
  windows(): readonly { readonly task: string; readonly window: number }[];
}

const CONTENT = z.strictObject({
  version: z.literal(1),
  operator: z.string(),
  chain: z.string(),
  windows: z.record(z.string(), z.string()),
});

interface Content {
  readonly operator: Secret<Uint8Array>;
  chain: Secret<Uint8Array>;
  readonly windows: Map<string, Secret<Uint8Array>>;
}

const fresh = (): Uint8Array => new Uint8Array(randomBytes(WINDOW_SECRET_BYTES));
const nameOf = (task: string, window: number): string => `${task}/${window}`;

export function openKeyFile(path: string): KeyFile {
  if (!existsSync(path)) save(path, { operator: secret(fresh()), chain: secret(fresh()), windows: new Map() });
  const content = load(path);
  const signingKey = ed25519(content.operator);
  const publicKey = createPublicKey(signingKey).export({ format: "jwk" }).x as string;

  return {
    signingKey,
    operatorKey: encodeOperatorKey(decodeBase64urlOf("a public key", 32, publicKey)),
    windowSecret: (task, window) => content.windows.get(nameOf(task, window)),
    openWindow: (task, window) => {
      const known = content.windows.get(nameOf(task, window));
      if (known) return known;
      const before = content.chain;
      const { windowSecret, chain } = stepWindowRatchet(before, fresh());
      content.chain = chain;
      content.windows.set(nameOf(task, window), windowSecret);
      save(path, content);
      before.reveal().fill(0);
      return windowSecret;
    },
    destroyWindow: (task, window) => {
      const known = content.windows.get(nameOf(task, window));
      if (!known) return;
      content.windows.delete(nameOf(task, window));
      save(path, content);
      known.reveal().fill(0);
    },
    windows: () =>
      [...content.windows.keys()].map((name) => {
        const [task = "", window] = name.split("/");
        return { task, window: Number(window) };
      }),
  };
}

/** DER of a PKCS #8 private key (RFC 8410 §7), but for the seed. */
const ED25519_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

function ed25519(seed: Secret<Uint8Array>): KeyObject {
  const der = Buffer.concat([ED25519_PREFIX, seed.reveal()]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  der.fill(0);
  return key;
}

function load(path: string): Content {
  if ((statSync(path).mode & 0o077) !== 0) {
    throw new LetheError("bad-key-file", `others may read the key file ${path}: chmod 600 ${path}`);
  }
  try {
    const { operator, chain, windows } = CONTENT.parse(JSON.parse(readFileSync(path, "utf8")));
    const read = (text: string): Secret<Uint8Array> => secret(decodeBase64urlOf("a secret", WINDOW_SECRET_BYTES, text));
    return {
      operator: read(operator),
      chain: read(chain),
      windows: new Map(Object.entries(windows).map(([name, text]) => [name, read(text)])),
    };
  } catch {
    // The cause would quote what is in the file.
    throw new LetheError(
      "bad-key-file",
      `the key file ${path} cannot be read: it is damaged or of another version; restore it, without it open windows are lost`,
    );
  }
}

/** The new content is whole and on disk before it replaces the old, which is then overwritten as far as the disk allows. */
function save(path: string, { operator, chain, windows }: Content): void {
  const write = (value: Secret<Uint8Array>): string => encodeBase64url(value.reveal());
  const text = JSON.stringify({
    version: 1,
    operator: write(operator),
    chain: write(chain),
    windows: Object.fromEntries([...windows].map(([name, value]) => [name, write(value)])),
  } satisfies z.infer<typeof CONTENT>);
  const old = existsSync(path) ? openSync(path, "r+") : undefined;
  const unfinished = `${path}.new`;
  writeDurably(openSync(unfinished, "w", 0o600), text);
  renameSync(unfinished, path);
  const folder = openSync(dirname(path), "r");
  fsyncSync(folder);
  closeSync(folder);
  if (old !== undefined) writeDurably(old, " ".repeat(fstatSync(old).size));
}

function writeDurably(file: number, text: string): void {
  writeSync(file, text);
  fsyncSync(file);
  closeSync(file);
}
