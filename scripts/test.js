// All that must hold before a change lands: types of the tests, style, unused code, packages, then the tests.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findOrInstallChromium } from "./chromium.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const published = ["core", "device", "server", "lab", "cli"];

const steps = [
  ["types of the tests", "tsc", "-p", "tsconfig.test.json"],
  ["style", "biome", "ci", "--error-on-warnings", "."],
  ["unused files, exports and dependencies", "knip"],
  ...published.map((name) => [`package ${name}`, "publint", "--strict", `packages/${name}`]),
  ["tests", "vitest", "run"],
];

const chromium = findOrInstallChromium();
const env = chromium ? { ...process.env, CHROMIUM_PATH: chromium } : process.env;

for (const [what, command, ...args] of steps) {
  console.log(`\n— ${what}`);
  const { status } = spawnSync(join(root, "node_modules", ".bin", command), args, { cwd: root, stdio: "inherit", env });
  if (status !== 0) {
    console.error(`\nfailed: ${what}`);
    process.exit(status ?? 1);
  }
}

if (!chromium) {
  console.log(
    "\nNot run: tests in a browser (*.browser.test.ts). Install Chromium, or set CHROMIUM_PATH, and run npm test again.",
  );
}
