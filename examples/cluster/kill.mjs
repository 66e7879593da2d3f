// Kills a node of the cluster (kill -9, all of its processes), as if its machine had lost power. `start.mjs` restarts it.
// With --freeze it stops the node for a time instead (kill -STOP), as if its machine had hung.
// Usage: node kill.mjs primary|standby|etcd|any|pg1…pg3|etcd1…etcd3|haproxy [--folder …] [--ports …] [--down SECONDS | --freeze SECONDS]
import { execFileSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { dataOf, downFileOf, FOLDER, membersOf, nodesIn, PORTS, pidFileOf } from "./nodes.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    folder: { type: "string", default: FOLDER },
    ports: { type: "string", default: PORTS },
    down: { type: "string" },
    freeze: { type: "string" },
  },
});
const [wanted = "any"] = positionals;
const nodes = nodesIn(resolve(values.folder), Number(values.ports));
const node = await choose();
const processes = processesOf(node);
if (values.freeze !== undefined) await freeze(secondsOf("freeze"));
else kill();

function kill() {
  if (values.down !== undefined) writeFileSync(downFileOf(node), String(secondsOf("down")));
  signalAll("SIGKILL");
  console.log(`killed ${node.name} (${processes.length} processes)`);
}

async function freeze(seconds) {
  process.once("SIGINT", () => process.exit());
  process.once("exit", () => signalAll("SIGCONT"));
  signalAll("SIGSTOP");
  console.log(`froze ${node.name} (${processes.length} processes) for ${seconds} s`);
  await sleep(1000 * seconds);
}

async function choose() {
  const candidates = await candidatesOf();
  if (candidates === undefined) {
    end(
      `there is no node ${wanted}: name primary, standby, etcd, any, or one of ${namesOf([...nodes.all, nodes.proxy])}`,
    );
  }
  const alive = candidates.filter((each) => existsSync(pidFileOf(each)));
  if (alive.length === 0) end(`no ${wanted} runs in ${resolve(values.folder)}: start it with start.mjs`);
  return alive[randomInt(alive.length)];
}

async function candidatesOf() {
  if (wanted === "any") return nodes.all;
  if (wanted === "etcd") return nodes.etcds;
  if (wanted === "primary" || wanted === "standby") {
    const members = await membersOf(nodes);
    const isWanted = ({ role }) => (role === "leader") === (wanted === "primary");
    const names = members.filter(isWanted).map(({ name }) => name);
    return nodes.postgres.filter(({ name }) => names.includes(name));
  }
  const named = [...nodes.all, nodes.proxy].filter(({ name }) => name === wanted);
  return named.length > 0 ? named : undefined;
}

/** The process that was started, PostgreSQL, which Patroni starts in a session of its own, and all below them. */
function processesOf(chosen) {
  const roots = [Number(readFileSync(pidFileOf(chosen), "utf8")), ...postmasterOf(chosen)];
  const rows = execFileSync("ps", ["-e", "-o", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
  const parents = rows.map((row) => row.trim().split(/\s+/).map(Number));
  const found = new Set(roots);
  for (const pid of found) for (const [child, parent] of parents) if (parent === pid) found.add(child);
  return [...found];
}

/** Empty if PostgreSQL does not run: the lock file may be left over, and its number somebody else's. */
function postmasterOf(chosen) {
  const lock = join(dataOf(chosen), "postmaster.pid");
  if (chosen.kind !== "postgres" || !existsSync(lock)) return [];
  const pid = Number(readFileSync(lock, "utf8").split("\n")[0]);
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === dataOf(chosen) ? [pid] : [];
  } catch {
    return [];
  }
}

/** One of them may have ended by itself meanwhile. */
function signalAll(signal) {
  for (const pid of processes) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (error.code !== "ESRCH") throw error;
    }
  }
}

function secondsOf(option) {
  const seconds = Number(values[option]);
  if (Number.isInteger(seconds) && seconds >= 0) return seconds;
  return end(`--${option} must be a number of seconds, got ${values[option]}`);
}

function namesOf(some) {
  return some.map(({ name }) => name).join(", ");
}

function end(message) {
  console.error(message);
  process.exit(2);
}
