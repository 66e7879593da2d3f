import { createPublicKey, verify } from "node:crypto";
import { LetheError } from "@lethe/core/error";
import {
  decodeOperatorKey,
  encodeBase64url,
  type Manifest,
  manifestHash,
  parseManifest,
  type Release,
} from "@lethe/core/message";
import { planTask } from "@lethe/core/plan";
import {
  assembleRelease,
  parseWindowShare,
  type ServerRole,
  type SignedShare,
  twoServerLayoutOf,
  type WindowShare,
} from "@lethe/core/two-server";
import { fetchSignedManifest, fetchStatus } from "./service-client.ts";

/** Where the two servers are, and the keys that whoever asks knows to be theirs. */
export interface Servers {
  readonly leader: string;
  readonly helper: string;
  readonly leaderKey?: string;
  readonly helperKey?: string;
}

/** As services price what they release. */
const DELTA = 1e-6;

/** The release of a window from both servers' shares, as far as each is signed by its own server. */
export async function assemble(
  servers: Servers,
  task: string,
  window: number,
  leaderShare: SignedShare,
  helperShare: SignedShare,
): Promise<Release> {
  const { leader: url } = servers;
  const signed = await fetchSignedManifest(url, task, window);
  const manifest = parseManifest(signed.manifest);
  const keys = keysOf(manifest, servers);
  requireSigned("the task", signed.manifest, signed.signature, "leader", keys.leader);
  const leader = openShare("leader", leaderShare, keys.leader, window);
  const helper = openShare("helper", helperShare, keys.helper, window);
  const known = { manifest, hash: manifestHash(signed.manifest), layout: twoServerLayoutOf(manifest) };
  const cost = planTask({ task: manifest, devices: leader.received, delta: DELTA, windows: 1 });
  const release = assembleRelease(known, leader, helper, cost);
  // Which requests were refused is the leader's to tell; nothing hangs on it.
  return { ...release, refused: (await fetchStatus(url, task, window)).refused };
}

/** Those that were given must be those that devices go by. */
function keysOf({ servers }: Manifest, { leaderKey, helperKey }: Servers): Readonly<Record<ServerRole, string>> {
  const [leader, helper] = servers;
  return {
    leader: keyOf("leader", leader?.key ?? "", leaderKey),
    helper: keyOf("helper", helper?.key ?? "", helperKey),
  };
}

function keyOf(role: ServerRole, named: string, given: string | undefined): string {
  if (given === undefined) {
    process.stderr.write(
      `note: the ${role}'s key was not given, so the manifest's is believed: --${role}-key ${named}\n`,
    );
  } else if (given !== named) {
    throw new LetheError("bad-signature", `the manifest names another operator key of the ${role} than --${role}-key`);
  }
  return named;
}

function openShare(role: ServerRole, { document, signature }: SignedShare, key: string, window: number): WindowShare {
  requireSigned("the share", document, signature, role, key);
  const share = parseWindowShare(document);
  if (share.window === window) return share;
  throw new LetheError("bad-share", `the ${role} answers with its share of window ${share.window}, not of ${window}`);
}

function requireSigned(what: string, text: string, signature: Uint8Array, role: ServerRole, key: string): void {
  const jwk = { kty: "OKP", crv: "Ed25519", x: encodeBase64url(decodeOperatorKey(key)) };
  const publicKey = createPublicKey({ key: jwk, format: "jwk" });
  if (verify(null, new TextEncoder().encode(text), publicKey, signature)) return;
  throw new LetheError("bad-signature", `${what} is not signed by the ${role}, whose key is ${key}`);
}
