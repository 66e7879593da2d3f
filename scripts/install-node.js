// Another version of Node for tests. npm has its binaries as packages, one per platform.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { arch, platform, tmpdir } from "node:os";
import { join } from "node:path";

const MOST_MILLISECONDS = 180_000;

/**
 * Installs the newest Node of this major version into a temporary folder, which is deleted when this process ends. Returns the
 * path of the program, or undefined if it could not be installed, for example without a network.
 */
export function installNode(major) {
  const folder = mkdtempSync(join(tmpdir(), "lethe-node-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const name = `node-${platform()}-${arch()}`;
  const options = ["--no-audit", "--no-fund", "--fetch-retries=1", "--fetch-retry-mintimeout=1000"];
  const args = ["install", ...options, `${name}@${major}`];
  spawnSync("npm", args, { cwd: folder, stdio: "ignore", timeout: MOST_MILLISECONDS });
  const program = join(folder, "node_modules", name, "bin", "node");
  return spawnSync(program, ["--version"]).status === 0 ? program : undefined;
}
