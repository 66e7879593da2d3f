// Starts three etcd members and three PostgreSQL nodes under Patroni on this machine, and HAProxy in front of them if it
// is installed, restarts each one that ends, and prints the DATABASE_URL. Ctrl-C stops everything. See README.md.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import {
  commandOf,
  databaseUrl,
  dataOf,
  downFileOf,
  FOLDER,
  findPrograms,
  makeOwned,
  membersOf,
  nodesIn,
  PACKAGES,
  PORTS,
  passwordsIn,
  pidFileOf,
  portsOf,
  proxyUrl,
} from "./nodes.mjs";

const START_SECONDS = 180;
const STOP_SECONDS = 30;

const { values } = parseArgs({
  options: {
    folder: { type: "string", default: FOLDER },
    ports: { type: "string", default: PORTS },
    "restart-after": { type: "string", default: "5" },
  },
});
const folder = resolve(values.folder);
const [firstPort, restartSeconds] = [numberOf("ports", 1024, 65_000), numberOf("restart-after", 0, 3600)];
const nodes = nodesIn(folder, firstPort);
const programs = findPrograms();
if (programs.missing.length > 0) {
  end(`missing: ${programs.missing.join(", ")}; on Debian, install them with: apt-get install ${PACKAGES}`);
}
const owner = ownerOfNodes();
for (const port of portsOf(nodes)) {
  if (!(await isFree(port))) end(`port ${port} is in use: stop what uses it, or choose others with --ports`);
}
prepareFolder();
const passwords = passwordsIn(folder, owner);

let isStopping = false;
const running = new Map();
const waiting = new Map();
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => void stop());
for (const node of programs.haproxy ? [...nodes.all, nodes.proxy] : nodes.all) start(node);
await untilReady();
if (!isStopping) print();

function numberOf(name, least, most) {
  const value = Number(values[name]);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  return end(`--${name} must be an integer from ${least} to ${most}, got ${values[name]}`);
}

function end(message) {
  console.error(message);
  process.exit(2);
}

/** PostgreSQL refuses to run as root; Debian's package has made a user for it. */
function ownerOfNodes() {
  if (process.getuid() !== 0) return undefined;
  const idOf = (which) => Number(execFileSync("id", [which, "postgres"]));
  return { uid: idOf("-u"), gid: idOf("-g") };
}

function isFree(port) {
  return new Promise((done) => {
    const server = createServer();
    server.once("error", () => done(false));
    server.listen(port, "127.0.0.1", () => server.close(() => done(true)));
  });
}

/** The user that runs the nodes must reach their folders, which it cannot below /root, for example. */
function prepareFolder() {
  makeOwned(folder, owner);
  if (owner && spawnSync("test", ["-w", folder], { ...owner }).status !== 0) {
    end(`the user postgres cannot enter ${folder}: choose another place with --folder, for example /tmp/lethe-cluster`);
  }
}

/** Starts a node, and again when it ends. If this program is killed, the node stops, too. */
function start(node) {
  const command = commandOf(node, nodes, programs, passwords, owner);
  const log = openSync(join(node.folder, "log"), "a");
  const user = owner ? [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, "--clear-groups"] : [];
  const child = spawn(programs.setpriv, ["--pdeathsig=TERM", ...user, "--", ...command], {
    cwd: node.folder,
    env: { PATH: process.env.PATH, LC_ALL: "C.UTF-8", HOME: node.folder },
    // Ctrl-C is for this program, which then stops the nodes.
    detached: true,
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  writeFileSync(pidFileOf(node), `${child.pid}\n`);
  running.set(node, child);
  child.on("exit", () => {
    running.delete(node);
    rmSync(pidFileOf(node), { force: true });
    if (isStopping) return;
    const seconds = secondsDown(node);
    console.log(`${node.name} ended; it starts again in ${seconds} s`);
    const timer = setTimeout(() => start(node), 1000 * seconds);
    waiting.set(node, timer);
  });
}

/** What `kill.mjs --down` said, once. */
function secondsDown(node) {
  const file = downFileOf(node);
  if (!existsSync(file)) return restartSeconds;
  const seconds = Number(readFileSync(file, "utf8"));
  rmSync(file);
  return seconds;
}

/** A primary, and a standby for which its commits wait. */
async function untilReady() {
  const deadline = performance.now() + 1000 * START_SECONDS;
  while (!isStopping) {
    const roles = (await membersOf(nodes)).map(({ role }) => role);
    if (roles.includes("leader") && roles.includes("sync_standby")) return;
    if (performance.now() > deadline) {
      console.error(`the cluster is not ready after ${START_SECONDS} s: see the files log in ${folder}`);
      process.exitCode = 1;
      await stop();
    }
    await sleep(200);
  }
}

function print() {
  console.log(`The cluster is ready: ${nodes.all.map(({ name }) => name).join(", ")}, in ${folder}.

export DATABASE_URL='${databaseUrl(nodes, passwords)}'
${programs.haproxy ? `\nOr through HAProxy:\n\nexport DATABASE_URL='${proxyUrl(nodes, passwords)}'\n` : ""}
Start the service with it, in other terminals:

export LETHE_ADMIN_TOKEN=$(openssl rand -hex 24)
npx lethe serve --role intake --port 8081 --require-standby
npx lethe serve --role tally --port 9081 --key-file keys.json --url http://127.0.0.1:8081 --require-standby

Kill a node:

node examples/cluster/kill.mjs primary --folder ${folder} --ports ${firstPort}

Ctrl-C stops the cluster.`);
}

/**
 * First PostgreSQL, which tells etcd that it stops, then etcd. That needs no farewell: a member that is asked to end
 * looks for another to lead, for 10 s, among members that end as well.
 */
async function stop() {
  if (isStopping) return;
  isStopping = true;
  for (const timer of waiting.values()) clearTimeout(timer);
  await stopAll(nodes.postgres, "SIGTERM");
  await stopAll([...nodes.etcds, nodes.proxy], "SIGKILL");
  for (const node of nodes.postgres) removeSharedMemory(node);
  process.exit();
}

async function stopAll(some, signal) {
  const children = some.flatMap((node) => running.get(node) ?? []);
  const ended = Promise.all(children.map((child) => once(child, "exit")));
  for (const child of children) child.kill(signal);
  await Promise.race([ended, sleep(1000 * STOP_SECONDS)]);
  for (const child of children) child.kill("SIGKILL");
}

/** A killed PostgreSQL leaves a small segment of shared memory; its id is in the lock file. */
function removeSharedMemory(node) {
  const lock = join(dataOf(node), "postmaster.pid");
  if (!existsSync(lock)) return;
  const id = readFileSync(lock, "utf8").split("\n")[6]?.trim().split(/\s+/)[1];
  if (id) spawnSync("ipcrm", ["-m", id], { ...owner, stdio: "ignore" });
}
