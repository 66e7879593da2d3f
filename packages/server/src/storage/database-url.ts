import { createHash } from "node:crypto";
import { LetheError } from "@lethe/core/error";

/** One of the servers that hold a database: the primary, or a standby. */
export interface Host {
  /** Its address, for messages. */
  readonly name: string;
  /** The URL that leads to it alone. */
  readonly url: string;
}

const DEFAULT_PORT = 5432;

/** What libpq calls a server that accepts writes. The service needs one, and looks for it whether or not it is asked. */
const WRITABLE = new Set(["read-write", "primary"]);

/**
 * The hosts of a database: `postgres://user:password@host1:5432,host2:5432/database`, as libpq writes them. Errors do not
 * quote the URL, because it holds a password.
 */
export function hostsOf(url: string): Host[] {
  const [, scheme = "", user = "", hosts = "", rest = ""] =
    /^(postgres(?:ql)?:\/\/)((?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? [];
  const several = hosts.split(",");
  return several.map((host) => {
    const alone = `${scheme}${user}${host}${rest}`;
    if (scheme === "" || !URL.canParse(alone) || (host === "" && several.length > 1)) throw malformed();
    requireWritable(new URL(alone).searchParams.get("target_session_attrs"));
    return { name: nameOf(new URL(alone)), url: alone };
  });
}

/** Which database a URL names, and where, as a hash: other URLs have others. It does not depend on the password. */
export function labelOf(url: string): string {
  const hosts = hostsOf(url);
  const { pathname } = new URL((hosts[0] as Host).url);
  return createHash("sha256")
    .update(JSON.stringify([hosts.map(({ name }) => name), pathname]))
    .digest("hex");
}

function nameOf({ hostname, port }: URL): string {
  return hostname === "" ? "the server" : `${hostname}:${port || DEFAULT_PORT}`;
}

function malformed(): LetheError {
  return new LetheError(
    "bad-database",
    "DATABASE_URL is like postgres://user:password@host:5432/database; commas separate several hosts of the database",
  );
}

function requireWritable(wanted: string | null): void {
  if (wanted === null || WRITABLE.has(wanted)) return;
  throw new LetheError(
    "bad-database",
    "target_session_attrs in DATABASE_URL must be read-write, or be left out: the service writes to the database",
  );
}
