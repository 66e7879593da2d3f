// Whether the licences of all packages in the lockfile allow what we do with them: ship with ours, or only build and test with.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Permissive: what is shipped may depend on these. */
const SHIPPED = new Set(["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"]);
/** The terms of these bind whoever changes or ships the package itself, which we do not. */
const TOOLS = new Set([
  ...SHIPPED,
  "BSD-3-Clause-Clear",
  "BlueOak-1.0.0",
  "CC0-1.0",
  "CC-BY-4.0",
  "MPL-2.0",
  "Python-2.0",
]);
/** Parts of these are in our bundles, although they are development dependencies: bundlers put them there. */
const BUNDLED = new Set(["node_modules/preact", "node_modules/@preact/signals", "node_modules/@preact/signals-core"]);

/** The packages of a lockfile whose licence is missing or not allowed, as "path@version: licence". */
export function forbiddenLicenses(lockfile) {
  return Object.entries(lockfile.packages)
    .filter(([path, { link }]) => path.includes("node_modules/") && !link)
    .filter(([path, { dev, license }]) => !isAllowed(license, dev && !BUNDLED.has(path) ? TOOLS : SHIPPED))
    .map(([path, { version, license }]) => `${path}@${version}: ${license ?? "no licence"}`);
}

/** Of a choice, one must be allowed; of several licences that hold at once, all. */
function isAllowed(expression, allowed) {
  if (typeof expression !== "string") return false;
  return expression
    .replaceAll(/[()]/g, "")
    .split(" OR ")
    .some((choice) => choice.split(" AND ").every((license) => allowed.has(license.trim())));
}

/** The lockfile of the repository in a folder. */
export function lockfileIn(root) {
  return JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
}
