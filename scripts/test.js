// All that must hold before a change lands: types of the tests, style, unused code, packages, then the tests.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findOrInstallBrowsers } from "./browsers.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const published = ["core", "device", "server", "analyst", "lab", "cli"];

const steps = [
  ["types of the tests", "tsc", "-p", "tsconfig.test.json"],
  ["style", "biome", "ci", "--error-on-warnings", "."],
  ["unused files, exports and dependencies", "knip"],
  ...published.map((name) => [`package ${name}`, "publint", "--strict", `packages/${name}`]),
  ["tests", "vitest", "run"],
];

const browsers = findOrInstallBrowsers();
const memory = findMemory();
const env = {
  ...process.env,
  ...browsers.paths,
  ...(memory && { TMPDIR: memory }),
};

for (const [what, command, ...args] of steps) {
  console.log(`\n— ${what}`);
  const { status } = spawnSync(join(root, "node_modules", ".bin", command), args, { cwd: root, stdio: "inherit", env });
  if (status !== 0) {
    console.error(`\nfailed: ${what}`);
    process.exit(status ?? 1);
  }
}

if (browsers.missing.length > 0) {
  console.log(
    `\nNot run: tests (*.browser.test.ts) in ${browsers.missing.join(", ")}. Install them and run npm test again.`,
  );
}

/**
 * A folder in memory for databases that tests throw away by the hundred: on a disk, copying them takes a sixth of the whole time. No test
 * is about what a disk keeps when the power fails. Only where Linux has one with room enough, and nobody has chosen another.
 */
function findMemory() {
  const LEAST_BYTES = 6e9;
  const root = "/dev/shm";
  try {
    if (process.env.TMPDIR) return undefined;
    const { bavail, bsize } = statfsSync(root);
    if (bavail * bsize < LEAST_BYTES) return undefined;
    const folder = mkdtempSync(join(root, "lethe-tests-"));
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
    // As /tmp is: PostgreSQL runs as another user.
    chmodSync(folder, 0o1777);
    // Some let nothing run from there; tests install programs.
    const program = join(folder, "program");
    writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
    return spawnSync(program).status === 0 ? folder : undefined;
  } catch {
    return undefined;
  }
}
