import { LetheError } from "@lethe/core/error";
import { decodeOperatorKey, type Manifest, manifestHash, parseManifest, type Release } from "@lethe/core/message";
import { planTask } from "@lethe/core/plan";
import {
  assembleRelease,
  parseWindowShare,
  type ServerRole,
  type SignedShare,
  twoServerLayoutOf,
  type WindowShare,
} from "@lethe/core/two-server";
import { fetchSignedManifest } from "./manifest.ts";
import { fetchWindow } from "./service.ts";

/** The addresses of two servers, and what the analyst got from their operators. */
export interface ServerPair {
  readonly leader: string;
  readonly helper: string;
  readonly leaderKey?: string;
  readonly helperKey?: string;
  /** The admin tokens of servers that keep their results private, for `collectLastWindows`. */
  readonly leaderToken?: string | undefined;
  readonly helperToken?: string | undefined;
}

/** How to treat a server whose key the analyst does not know. */
export interface AssembleOptions {
  /** Called if the analyst gave no key for a server, with the key in the manifest, which is then believed. */
  readonly onUnpinnedKey?: (role: ServerRole, key: string) => void;
}

/** The δ at which services price what they release. */
const DELTA = 1e-6;

/**
 * The release of a window from the shares of both servers. Checks that the leader signed the manifest, that each server
 * signed its own share, and that both shares are of this window, this manifest and the same reports. Rejects with
 * `bad-signature` or `bad-share` otherwise.
 */
export async function assemble(
  servers: ServerPair,
  task: string,
  window: number,
  leaderShare: SignedShare,
  helperShare: SignedShare,
  { onUnpinnedKey = () => {} }: AssembleOptions = {},
): Promise<Release> {
  const signed = await fetchSignedManifest(servers.leader, task, window);
  const manifest = parseManifest(signed.manifest);
  const keys = keysOf(manifest, servers, onUnpinnedKey);
  await requireSigned("the task", signed.manifest, signed.signature, "leader", keys.leader);
  const leader = await openShare("leader", leaderShare, keys.leader, window);
  const helper = await openShare("helper", helperShare, keys.helper, window);
  const known = { manifest, hash: manifestHash(signed.manifest), layout: twoServerLayoutOf(manifest) };
  const cost = planTask({ task: manifest, devices: leader.received, delta: DELTA, windows: 1 });
  const release = assembleRelease(known, leader, helper, cost);
  // Only the leader knows which requests it refused; no guarantee depends on that number.
  return {
    ...release,
    refused: (await fetchWindow(servers.leader, task, window, { token: servers.leaderToken })).refused,
  };
}

type OnUnpinnedKey = NonNullable<AssembleOptions["onUnpinnedKey"]>;

/** The keys in the manifest, which devices use too, and which the analyst's keys must match. */
function keysOf({ servers }: Manifest, pair: ServerPair, onUnpinnedKey: OnUnpinnedKey): Record<ServerRole, string> {
  const keyOf = (role: ServerRole, named: string, given: string | undefined): string => {
    if (given === undefined) onUnpinnedKey(role, named);
    else if (given !== named) {
      throw new LetheError("bad-signature", `the manifest names another operator key of the ${role} than you gave`);
    }
    return named;
  };
  const [leader, helper] = servers;
  return {
    leader: keyOf("leader", leader?.key ?? "", pair.leaderKey),
    helper: keyOf("helper", helper?.key ?? "", pair.helperKey),
  };
}

async function openShare(
  role: ServerRole,
  { document, signature }: SignedShare,
  key: string,
  window: number,
): Promise<WindowShare> {
  await requireSigned("the share", document, signature, role, key);
  const share = parseWindowShare(document);
  if (share.window === window) return share;
  throw new LetheError("bad-share", `the ${role} answers with its share of window ${share.window}, not of ${window}`);
}

async function requireSigned(
  what: string,
  text: string,
  signature: Uint8Array,
  role: ServerRole,
  key: string,
): Promise<void> {
  const { subtle } = globalThis.crypto;
  const raw = decodeOperatorKey(key) as Uint8Array<ArrayBuffer>;
  const publicKey = await subtle.importKey("raw", raw, "Ed25519", false, ["verify"]);
  const bytes = new TextEncoder().encode(text);
  if (await subtle.verify("Ed25519", publicKey, signature as Uint8Array<ArrayBuffer>, bytes)) return;
  throw new LetheError("bad-signature", `${what} is not signed by the ${role}, whose key is ${key}`);
}
