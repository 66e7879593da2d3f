import type { Role, ServiceOptions } from "@lethe/server";
import { failure } from "../system/failure.ts";

/** The options of `lethe serve` about the other of two servers. */
export interface PeerOptions {
  readonly role: Role;
  readonly peer?: string;
  readonly peerKey?: string;
}

const VARIABLE = "LETHE_PEER_SECRET";
const LEAST_CHARACTERS = 32;

/** The other of two servers, or undefined for a service that counts alone. */
export function peerOf({ role, peer: url, peerKey }: PeerOptions): ServiceOptions["peer"] {
  if (role !== "leader" && url !== undefined)
    throw failure("--peer is for --role leader only: a helper waits for requests");
  if (role !== "leader" && role !== "helper") {
    if (peerKey !== undefined) throw failure("--peer-key is for --role leader and --role helper only");
    return undefined;
  }
  const other = role === "leader" ? "helper" : "leader";
  if (role === "leader" && url === undefined) {
    throw failure("--peer is missing: the address of the helper, like https://helper.example");
  }
  if (peerKey === undefined) {
    throw failure(
      `--peer-key is missing: the ${other}'s operator key, which npx lethe key prints where the ${other} runs`,
    );
  }
  return { ...(url !== undefined && { url }), operatorKey: peerKey, secret: requireSecret() };
}

/** The secret comes from the environment, because other users of the machine can read the command line. */
function requireSecret(): string {
  const secret = process.env[VARIABLE];
  if (secret === undefined) {
    throw failure(`the secret of leader and helper is missing: set ${VARIABLE}, the same for both`);
  }
  if (secret.length < LEAST_CHARACTERS) {
    throw failure(`the secret in ${VARIABLE} is too short: it must have at least ${LEAST_CHARACTERS} characters`);
  }
  return secret;
}
