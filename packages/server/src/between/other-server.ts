import { existsSync } from "node:fs";
import { LetheError } from "@lethe/core/error";
import { decodeOperatorKey } from "@lethe/core/message";
import { operatorKeyOf } from "../tally/key-file.ts";

/** The other of the two servers: where it is, and what proves that it is the right one. */
export interface OtherServer {
  /** Where a leader reaches its helper. A helper has none: it waits to be asked. */
  readonly url?: string;
  /** Known to the processes of both servers, and to nobody else. */
  readonly secret: string;
  /** The other operator's. */
  readonly operatorKey: string;
}

const LEAST_SECRET = 32;

/**
 * Throws unless the other server is given, with a secret that cannot be guessed and an operator key that is not this
 * server's own.
 */
export function requireOtherServer(
  other: OtherServer | undefined,
  role: "leader" | "helper",
  ownKeyFile: string,
): OtherServer {
  if (!other)
    throw new LetheError("bad-role", `role ${role} needs the other's operator key and the secret that both share`);
  const { secret, operatorKey } = other;
  if (secret.length < LEAST_SECRET) {
    throw new LetheError("bad-role", `the secret of leader and helper must have at least ${LEAST_SECRET} characters`);
  }
  decodeOperatorKey(operatorKey, "the other server's operator key");
  if (existsSync(ownKeyFile) && operatorKeyOf(ownKeyFile, { create: false }) === operatorKey) {
    const otherRole = role === "leader" ? "helper" : "leader";
    throw new LetheError(
      "bad-role",
      `--peer-key is this ${role}'s own operator key: give the ${otherRole}'s, which lethe key prints there`,
    );
  }
  return other;
}
