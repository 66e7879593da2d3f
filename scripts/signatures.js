// Whether every installed package has the registry's signature: `npm audit signatures`, and what its result means.
import { spawnSync } from "node:child_process";

const MOST_MILLISECONDS = 180_000;

/** Runs npm and says what it found: see `verdictOf`. */
export function checkSignatures(root) {
  const args = ["audit", "signatures", "--json", "--fetch-retries=0", "--fetch-timeout=20000"];
  const { status, stdout, stderr, error } = spawnSync("npm", args, {
    cwd: root,
    encoding: "utf8",
    timeout: MOST_MILLISECONDS,
  });
  return verdictOf({ status, stdout: stdout ?? "", stderr: stderr ?? String(error) });
}

/** Nothing could be compared: there is no network, or the registry has no keys. */
const UNAVAILABLE =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|TUF_\w+)\b|network|timed? ?out|from a supported registry/i;

/**
 * "verified"; or `{ skipped }`, why npm could not tell; or `{ failed }`, what is wrong. A signature that is bad or missing is never
 * skipped, whatever else npm reports.
 */
export function verdictOf({ status, stdout, stderr }) {
  let found = {};
  try {
    found = JSON.parse(stdout);
  } catch {
    // npm did not come that far.
  }
  const { invalid = [], missing = [], error } = found ?? {};
  const bad = [...invalid.map((each) => [each, "invalid"]), ...missing.map((each) => [each, "missing"])];
  if (bad.length > 0) {
    return { failed: bad.map(([{ name, version }, what]) => `${name}@${version}: ${what} signature`).join("\n") };
  }
  if (status === 0) return "verified";
  const said = `${error?.code ?? ""} ${error?.summary ?? ""} ${stderr}`.trim();
  if (/EINTEGRITY|EATTESTATION/.test(said)) return { failed: said };
  if (status === null || UNAVAILABLE.test(said)) {
    const why = /\b(ENOTFOUND|EAI_AGAIN|ECONN\w+|ETIMEDOUT)\b/.exec(said)?.[0] ?? "the registry has no keys";
    return { skipped: status === null ? "npm took too long" : why };
  }
  return { failed: said || `npm ended with ${status}` };
}
