import type { Role, ServiceOptions } from "@lethe/server";
import { failure } from "../system/failure.ts";

export interface PeerOptions {
  readonly role: Role;
  readonly peer?: string;
  readonly peerKey?: string;
}

const VARIABLE = "LETHE_PEER_SECRET";
const LEAST_CHARACTERS = 32;

/** The other of two servers; undefined for a service that counts alone. */
export function peerOf({ role, peer: url, peerKey }: PeerOptions): ServiceOptions["peer"] {
  if (role !== "leader" && url !== undefined)
    throw failure("--peer is for --role leader only: a helper waits to be asked");
  if (role !== "leader" && role !== "helper") {
    if (peerKey !== undefined) throw failure("--peer-key is for --role leader and --role helper only");
    return undefined;
  }
  const other = role === "leader" ? "helper" : "leader";
  if (role === "leader" && url === undefined) {
    throw failure("--peer is missing: where the helper is, like https://helper.example");
  }
  if (peerKey === undefined) {
    throw failure(
      `--peer-key is missing: the ${other}'s operator key, which npx lethe key prints where the ${other} runs`,
    );
  }
  return { ...(url !== undefined && { url }), operatorKey: peerKey, secret: requireSecret() };
}

/** Never from the command line, which others on the machine can read. */
function requireSecret(): string {
  const secret = process.env[VARIABLE];
  if (secret === undefined) {
    throw failure(`the secret that leader and helper share is missing: set ${VARIABLE}, the same for both`);
  }
  if (secret.length < LEAST_CHARACTERS) {
    throw failure(`the secret in ${VARIABLE} is too short: it has at least ${LEAST_CHARACTERS} characters`);
  }
  return secret;
}
