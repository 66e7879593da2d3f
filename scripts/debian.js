// Installs Debian's packages for the tests. Only in CI, as root, on Debian: elsewhere the machine is somebody's own.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** Whether packages may be installed here. */
export function mayInstall() {
  return process.env.CI === "true" && process.getuid?.() === 0 && isDebian();
}

/** Installs packages, and ends the process if that fails. `what` is for the log. */
export function install(what, packages) {
  console.log(`\n— ${what} (once)`);
  aptGet("update", "-qq");
  aptGet("install", "-qq", "-y", "--no-install-recommends", ...packages);
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
