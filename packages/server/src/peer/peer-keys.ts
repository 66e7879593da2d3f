import { existsSync } from "node:fs";
import { LetheError } from "@lethe/core/error";
import { decodeOperatorKey, parseManifest, type SignedManifest } from "@lethe/core/message";
import type { TaskRegistry } from "../storage/tasks.ts";
import { operatorKeyOf } from "../tally/key-file.ts";
import { isSignedBy, requireSignedBy } from "../tally/open-keys.ts";
import type { Peer } from "./client.ts";

const LEAST_SECRET = 32;

/** A secret that can be guessed would let anybody speak as the other; and nobody is their own other. */
export function requirePeer(peer: Peer | undefined, role: "leader" | "helper", ownKeyFile: string): Peer {
  if (!peer)
    throw new LetheError("bad-role", `role ${role} needs the other's operator key and the secret that both share`);
  const { secret, operatorKey } = peer;
  if (secret.length < LEAST_SECRET) {
    throw new LetheError("bad-role", `the secret of leader and helper has at least ${LEAST_SECRET} characters`);
  }
  decodeOperatorKey(operatorKey, "the other server's operator key");
  if (existsSync(ownKeyFile) && operatorKeyOf(ownKeyFile, { create: false }) === operatorKey) {
    const other = role === "leader" ? "helper" : "leader";
    throw new LetheError(
      "bad-role",
      `--peer-key is this ${role}'s own operator key: give the ${other}'s, which lethe key prints there`,
    );
  }
  return peer;
}

/** Of a helper: its tasks are the leader's. One that another leader has signed tells of a wrong key, not of a forgery. */
export function requireSignedByLeader({ operatorKey }: Peer): (task: SignedManifest) => void {
  const requireSigned = requireSignedBy(operatorKey);
  return (signed) => {
    if (isSignedBy(operatorKey, signed)) return;
    const { task, servers } = parseManifest(signed.manifest);
    const signer = servers[0]?.key ?? operatorKey;
    if (!isSignedBy(signer, signed)) requireSigned(signed);
    throw new LetheError(
      "bad-signature",
      `task ${task} was signed by the leader key ${signer}, and --peer-key says ${operatorKey}: is that the leader's, as lethe ` +
        "key prints it there? There is nothing to delete",
    );
  };
}

/** Of a leader: its tasks name the helper whose keys devices have. */
export function requireSameHelper(tasks: TaskRegistry, { operatorKey }: Peer): void {
  for (const { manifest } of tasks.names().flatMap(tasks.versions)) {
    const named = manifest.servers[1]?.key;
    if (named === undefined || named === operatorKey) continue;
    throw new LetheError(
      "task-differs",
      `task ${manifest.task} names the helper key ${named}, and --peer-key says ${operatorKey}: is that the helper's, as ` +
        "lethe key prints it there? Another helper takes another leader, with a database of its own",
    );
  }
}
