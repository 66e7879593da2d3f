// Where the tests in a browser find Chromium. It is installed only on the machines that check changes: CI, as root, on Debian.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const DEBIAN = "/usr/bin/chromium";

/** The path; undefined if there is none. */
export function findOrInstallChromium() {
  const found = process.env.CHROMIUM_PATH ?? DEBIAN;
  if (found !== DEBIAN || existsSync(DEBIAN)) return found;
  if (process.env.CI !== "true" || process.getuid?.() !== 0 || !isDebian()) return undefined;
  console.log("\n— Chromium (once)");
  aptGet("update", "-qq");
  aptGet("install", "-qq", "-y", "--no-install-recommends", "chromium");
  return DEBIAN;
}

function isDebian() {
  return existsSync("/etc/os-release") && /^ID=debian$/m.test(readFileSync("/etc/os-release", "utf8"));
}

function aptGet(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const { status } = spawnSync("/usr/bin/apt-get", args, { stdio: ["ignore", 2, 2], env });
  if (status !== 0) {
    console.error(`\nfailed: apt-get ${args.join(" ")}`);
    process.exit(status ?? 1);
  }
}
