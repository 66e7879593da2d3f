// Runs what must hold before a change lands, in parts that the arguments name:
// - `fast` (npm test): types, style, unused code, packages, unit and integration tests;
// - `faults` (npm run test:faults): kills, races, browsers, installed packages, statistics, comparisons of times;
// - `newer-node`: some of the tests on a newer version of Node, which npm installs into a temporary folder.
// It stops at the first step that fails. The last lines name the slowest test files, what ran and what did not.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { findOrInstallBrowsers } from "./browsers.js";
import { installNode } from "./install-node.js";
import { forbiddenLicenses, lockfileIn } from "./licenses.js";
import { findOrInstallPatroni } from "./patroni.js";
import { findOrInstallProxies, missingForDisks } from "./proxies.js";
import { checkSignatures } from "./signatures.js";

const NEWER_NODE = 24;
/** Where versions of Node differ: files, locks, threads, WebCrypto, networks. */
const NEWER_NODE_PATHS = [
  "packages/device",
  "packages/files",
  "packages/server/src/storage",
  "packages/server/src/tally",
];
const SLOWEST = 10;

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const modules = join(root, "node_modules");
const published = readdirSync(join(root, "packages"));

const results = mkdtempSync(join(tmpdir(), "lethe-test-results-"));
process.once("exit", () => rmSync(results, { recursive: true, force: true }));
const started = performance.now();
const [ran, notRun, files] = [[], [], []];

const parts = process.argv.slice(2);
const PARTS = {
  fast: () => {
    run("types of the tests", { command: "tsc" }, "-p", "tsconfig.test.json");
    run("style", { command: "biome" }, "ci", "--error-on-warnings", ".");
    run("unused files, exports and dependencies", { command: "knip" });
    const forbidden = forbiddenLicenses(lockfileIn(root));
    note("licences", forbidden.length > 0 ? { failed: forbidden.join("\n") } : "verified");
    for (const name of published) run(`package ${name}`, { command: "publint" }, "--strict", `packages/${name}`);
    runTests("unit and integration tests", ["pure", "embedded", "postgres"]);
    if (!parts.includes("faults"))
      notRun.push("npm run test:faults (kills, races, browsers, installed packages, statistics, times)");
  },
  faults: () => {
    note("signatures of the installed packages", checkSignatures(root));
    const { paths, missing: missingBrowsers } = findOrInstallBrowsers();
    Object.assign(environment, paths);
    const missingPatroni = findOrInstallPatroni();
    const missingProxies = findOrInstallProxies();
    const projects = ["faults", "stores", "browsers", "installed", "statistics", "timed"];
    runTests("tests of faults, browsers, installed packages, statistics and times", projects);
    for (const browser of missingBrowsers) notRun.push(`tests in ${browser}`);
    if (missingPatroni) notRun.push(`tests with a Patroni cluster (${missingPatroni})`);
    if (missingProxies) notRun.push(`tests with reverse proxies (${missingProxies})`);
    const missingDisks = missingForDisks();
    if (missingDisks) notRun.push(`tests with disks that fail (${missingDisks})`);
  },
  "newer-node": () => {
    const node = installNode(NEWER_NODE);
    if (node === undefined) {
      console.log(`\n— Node ${NEWER_NODE} could not be installed, so no test runs on it`);
      notRun.push(`tests on Node ${NEWER_NODE}`);
    } else {
      runTests(`tests on Node ${NEWER_NODE}`, ["embedded"], { node }, ...NEWER_NODE_PATHS);
    }
  },
};

const environment = { ...process.env };
const memory = findMemory();
if (memory !== undefined) environment.TMPDIR = memory;

for (const part of parts) {
  if (!(part in PARTS)) throw new TypeError(`there is no part ${part}: name some of ${Object.keys(PARTS).join(", ")}`);
}
for (const part of parts) PARTS[part]();
const slowest = files.sort((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
console.log(`\nThe ${slowest.length} slowest test files:`);
for (const { seconds, name } of slowest) console.log(`${seconds.toFixed(1).padStart(7)} s  ${name}`);
console.log(`\nPassed in ${minutesSince(started)}: ${ran.join("; ")}.`);
if (notRun.length > 0) console.log(`Not run: ${notRun.join("; ")}.`);

/** Runs one of the installed programs, by default on this version of Node, and exits if it fails. */
function run(what, { command, script, node = process.execPath }, ...args) {
  console.log(`\n— ${what}`);
  const [program, first] = script ? [node, [script]] : [join(modules, ".bin", command), []];
  const { status } = spawnSync(program, [...first, ...args], { cwd: root, stdio: "inherit", env: environment });
  if (status !== 0) {
    console.error(`\nFailed after ${minutesSince(started)}: ${what}`);
    process.exit(status ?? 1);
  }
  ran.push(what);
}

/** What a check without a program of its own found; exits if it failed. */
function note(what, { failed, skipped }) {
  console.log(`\n— ${what}`);
  if (failed !== undefined) {
    console.error(`${failed}\n\nFailed after ${minutesSince(started)}: ${what}`);
    process.exit(1);
  }
  if (skipped === undefined) ran.push(what);
  else notRun.push(`${what} (${skipped})`);
}

/** Runs the tests of some of the projects in vitest.config.ts, and remembers how long each file took. */
function runTests(what, projects, options, ...paths) {
  const output = join(results, `${ran.length}.json`);
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${output}`];
  const chosen = projects.flatMap((name) => ["--project", name]);
  run(what, { script: join(modules, "vitest", "vitest.mjs"), ...options }, "run", ...reporters, ...chosen, ...paths);
  for (const { name, startTime, endTime } of JSON.parse(readFileSync(output, "utf8")).testResults) {
    files.push({ name: relative(root, name), seconds: (endTime - startTime) / 1000 });
  }
}

function minutesSince(start) {
  const seconds = Math.round((performance.now() - start) / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/**
 * A folder in memory for the hundreds of databases that tests create and delete: copying them on a disk takes a sixth of the
 * whole time. No test is about what a disk keeps when the power fails. Undefined if TMPDIR is set, or if the system has no
 * such folder with enough room.
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
    // Like /tmp, because PostgreSQL runs as another user.
    chmodSync(folder, 0o1777);
    // Tests install programs, which some systems do not allow to run from there.
    const program = join(folder, "program");
    writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
    return spawnSync(program).status === 0 ? folder : undefined;
  } catch {
    return undefined;
  }
}
