import type { webcrypto } from "node:crypto";
import { secret } from "@lethe/core/encryption";
import {
  DEVICE_BYTES,
  encodeEnrolment,
  encodeManifest,
  encodeOperatorKey,
  encodePublicKeys,
  encodeSignedManifest,
  keyContextOf,
  layoutOf,
  type Manifest,
  manifestHash,
  publicKeysBytes,
  publicKeysSigningBytes,
  type Task,
} from "@lethe/core/message";
import type { Randomness } from "@lethe/core/randomness";
import { bytesFrom } from "../randomness/bytes-from.ts";

/**
 * As much of a service as a device needs for a window: it issues real keys, signs them, and accepts whatever is sent.
 * Needs only WebCrypto, so that it runs in pages as well.
 */
export interface Issuer {
  readonly server: string;
  readonly task: string;
  readonly operatorKey: string;
  readonly fetch: typeof fetch;
  /** The size of the public keys that it issues. */
  readonly publicKeysBytes: number;
  /** The size of the state that devices keep. */
  readonly stateBytes: number;
}

const SERVER = "http://issuer.invalid";
const ROLE = "tally";
const SECRET_BYTES = 32;

/** Issues keys for one task; `fetch` answers without a network. */
export async function createIssuer(task: Task, random: Randomness): Promise<Issuer> {
  const { subtle } = globalThis.crypto;
  const pair = await subtle.generateKey("Ed25519", false, ["sign", "verify"]);
  const { publicKey, privateKey } = pair as webcrypto.CryptoKeyPair;
  const sign = async (bytes: Uint8Array): Promise<Uint8Array> =>
    new Uint8Array(await subtle.sign("Ed25519", privateKey, bytes as Uint8Array<ArrayBuffer>));
  const operatorKey = encodeOperatorKey(new Uint8Array(await subtle.exportKey("raw", publicKey)));
  const manifest: Manifest = { ...task, fromWindow: 0, servers: [{ role: ROLE, url: SERVER, key: operatorKey }] };
  const text = encodeManifest(manifest);
  const signed = encodeSignedManifest({ manifest: text, signature: await sign(new TextEncoder().encode(text)) });
  const layout = layoutOf(task);
  const master = secret(bytesFrom(random, SECRET_BYTES));

  async function enrol(window: number): Promise<string> {
    const device = bytesFrom(random, DEVICE_BYTES);
    const context = { task: task.task, window, device, role: ROLE } as const;
    const publicKeys = encodePublicKeys(
      layout.map((part) => part.server.issueKey(master, keyContextOf(part, context))),
    );
    const binding = { manifestHash: manifestHash(text), window, device, role: ROLE, publicKeys } as const;
    const keys = [{ role: ROLE, publicKeys, signature: await sign(publicKeysSigningBytes(binding)) }] as const;
    return encodeEnrolment({ device, uploadToken: "token", manifestHash: binding.manifestHash, keys });
  }

  return {
    server: SERVER,
    task: task.task,
    operatorKey,
    publicKeysBytes: publicKeysBytes(layout),
    stateBytes: layout.reduce((sum, { device }) => sum + device.bytes.state, 0),
    fetch: async (url, init) => {
      const window = /\/windows\/(\d+)\/devices$/.exec(String(url))?.[1];
      if (window !== undefined) return new Response(await enrol(Number(window)), { status: 201 });
      return init?.method === "PUT" ? new Response(null, { status: 201 }) : new Response(signed);
    },
  };
}
