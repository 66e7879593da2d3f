// Makes a fresh clone ready to run: installs what the lockfile names, unless that has been done, then builds.
// Needs only Node and npm. All output goes to stderr, so that stdout belongs to the command that runs next.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { removeStaleOutputs } from "./stale.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ["ignore", 2, 2] });
  if (error) console.error(`${command} could not be started: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}

function isInstalled() {
  const installed = join(root, "node_modules", ".package-lock.json");
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(join(root, "package-lock.json")).mtimeMs;
}

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Lethe needs Node 20.19 or later; this is ${process.version}.`);
  process.exit(2);
}
if (!isInstalled()) {
  console.error("Installing packages (once) …");
  const npm = process.env.npm_execpath;
  const args = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
  if (npm?.endsWith(".js")) run(process.execPath, [npm, ...args]);
  else run("npm", args);
}
run(process.execPath, [join(root, "node_modules", "typescript", "bin", "tsc"), "-b"]);
for (const name of readdirSync(join(root, "packages"))) removeStaleOutputs(join(root, "packages", name));
for (const name of ["bundle.js", "console.js"]) run(process.execPath, [join(root, "scripts", name)]);
