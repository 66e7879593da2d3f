// The nodes of the cluster: their names, ports, folders, and the configuration with which each is started. `start.mjs`
// runs them, `kill.mjs` kills them.
import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Debian's packages that have the programs. `haproxy` may be missing. */
export const PACKAGES = "postgresql-15 patroni etcd-server";

/** Where the cluster is unless `--folder` says otherwise. */
export const FOLDER = "lethe-cluster";

/** The port after which those of the nodes begin, unless `--ports` says otherwise. */
export const PORTS = "17000";

const HOST = "127.0.0.1";
const OF_EACH_KIND = [1, 2, 3];

/**
 * A standby takes over when the primary has not renewed its lock for `ttl` seconds. Patroni requires
 * ttl ≥ loop_wait + 2 · retry_timeout. Its defaults are 30, 10 and 10.
 */
const SECONDS = { ttl: 15, loop_wait: 2, retry_timeout: 5 };

/** The nodes, on ports from `ports` on, and a proxy in front of them, which is started if HAProxy is installed. */
export function nodesIn(folder, ports) {
  const etcds = OF_EACH_KIND.map((i) => ({
    ...{ kind: "etcd", name: `etcd${i}`, folder: join(folder, `etcd${i}`) },
    ...{ client: ports + i, peer: ports + 10 + i },
  }));
  const postgres = OF_EACH_KIND.map((i) => ({
    ...{ kind: "postgres", name: `pg${i}`, folder: join(folder, `pg${i}`) },
    ...{ port: ports + 20 + i, rest: ports + 30 + i },
  }));
  const proxy = { kind: "haproxy", name: "haproxy", folder: join(folder, "haproxy"), port: ports + 20 };
  return { etcds, postgres, proxy, all: [...etcds, ...postgres] };
}

/** All ports that must be free. */
export function portsOf({ etcds, postgres, proxy }) {
  return [
    proxy.port,
    ...etcds.flatMap(({ client, peer }) => [client, peer]),
    ...postgres.flatMap(({ port, rest }) => [port, rest]),
  ];
}

/** Where a node's process id is. */
export const pidFileOf = (node) => join(node.folder, "pid");

/** Where `kill.mjs` says after how many seconds the node that it kills is to start again. */
export const downFileOf = (node) => join(node.folder, "down");

/** Where PostgreSQL's data are. */
export const dataOf = (node) => join(node.folder, "data");

/** The URL with all hosts, for the service. */
export function databaseUrl({ postgres }, { lethe }) {
  return `postgres://lethe:${lethe}@${postgres.map(({ port }) => `${HOST}:${port}`).join(",")}/lethe`;
}

/** The URL of the proxy, which leads to whichever host is the primary. */
export function proxyUrl({ proxy }, { lethe }) {
  return `postgres://lethe:${lethe}@${HOST}:${proxy.port}/lethe`;
}

/** The passwords of the cluster, drawn at its first start. */
export function passwordsIn(folder, owner) {
  const path = join(folder, "passwords.json");
  if (!existsSync(path)) {
    const roles = ["postgres", "replicator", "rewind", "lethe"];
    const drawn = Object.fromEntries(roles.map((role) => [role, randomBytes(16).toString("hex")]));
    writeOwned(path, JSON.stringify(drawn), owner);
  }
  return JSON.parse(readFileSync(path, "utf8"));
}

/** Programs by name, and which of them are missing. */
export function findPrograms() {
  const paths = (process.env.PATH ?? "").split(delimiter);
  const find = (name) => paths.map((path) => join(path, name)).find(existsSync);
  const versions = "/usr/lib/postgresql";
  const newest = existsSync(versions)
    ? readdirSync(versions)
        .sort((a, b) => Number(b) - Number(a))
        .map((version) => join(versions, version, "bin"))
    : [];
  const postgres = newest.find((folder) => existsSync(join(folder, "postgres")));
  const programs = { etcd: find("etcd"), patroni: find("patroni"), setpriv: find("setpriv"), postgres };
  const missing = Object.keys(programs).filter((name) => programs[name] === undefined);
  const haproxy = find("haproxy") ?? ["/usr/sbin/haproxy"].find(existsSync);
  return { ...programs, haproxy, missing };
}

/** Writes what a node needs to start, and returns its command. */
export function commandOf(node, nodes, programs, passwords, owner) {
  makeOwned(node.folder, owner);
  if (node.kind === "haproxy") return [programs.haproxy, "-db", "-f", haproxyFile(node, nodes, owner)];
  return node.kind === "etcd"
    ? [programs.etcd, ...etcdFlags(node, nodes)]
    : [programs.patroni, patroniFile(node, nodes, programs, passwords, owner)];
}

function etcdFlags({ name, folder, client, peer }, { etcds }) {
  const [here, there] = [`http://${HOST}:${client}`, `http://${HOST}:${peer}`];
  return [
    ...["--name", name, "--data-dir", join(folder, "data")],
    ...["--listen-client-urls", here, "--advertise-client-urls", here],
    ...["--listen-peer-urls", there, "--initial-advertise-peer-urls", there],
    ...["--initial-cluster", etcds.map((each) => `${each.name}=http://${HOST}:${each.peer}`).join(",")],
    "--enable-v2",
    // A machine that runs everything may be busy: a leader that answers late is not replaced.
    ...["--heartbeat-interval", "200", "--election-timeout", "2000"],
  ];
}

/**
 * It asks Patroni which host is the primary. When a host is no longer, its connections are cut: a statement there may wait
 * for ever.
 */
function haproxyFile(node, { postgres }, owner) {
  const servers = postgres.map(({ name, port, rest }) => `  server ${name} ${HOST}:${port} check port ${rest}`);
  const lines = [
    "defaults",
    "  mode tcp",
    "  timeout connect 3s",
    "  timeout check 2s",
    // Longer than any statement of the service, and than it keeps a connection that nobody uses.
    "  timeout client 2h",
    "  timeout server 2h",
    "listen primary",
    `  bind ${HOST}:${node.port}`,
    "  option httpchk GET /primary",
    "  http-check expect status 200",
    "  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions",
    ...servers,
  ];
  const path = join(node.folder, "haproxy.cfg");
  writeOwned(path, `${lines.join("\n")}\n`, owner);
  return path;
}

/** JSON is YAML. */
function patroniFile(node, { etcds }, programs, passwords, owner) {
  const createFile = join(node.folder, "create.sql");
  writeOwned(
    createFile,
    `CREATE ROLE lethe LOGIN PASSWORD '${passwords.lethe}';\nCREATE DATABASE lethe OWNER lethe;\n`,
    owner,
  );
  const configuration = {
    scope: "lethe",
    name: node.name,
    restapi: { listen: `${HOST}:${node.rest}`, connect_address: `${HOST}:${node.rest}` },
    // Not etcd3: Patroni 3.0.2, which Debian 12 has, renews the primary's lock there without looking whose it is. A
    // former primary that hung, and goes on, would take it from the new one (fixed in 3.0.3).
    etcd: { hosts: etcds.map(({ client }) => `${HOST}:${client}`) },
    bootstrap: {
      dcs: {
        ...SECONDS,
        // Commits wait for a standby. Strict: also while there is none, instead of going on with one node.
        synchronous_mode: true,
        synchronous_mode_strict: true,
        postgresql: {
          use_pg_rewind: true,
          // A former primary that cannot rejoin is copied again, without anybody's help.
          remove_data_directory_on_rewind_failure: true,
          remove_data_directory_on_diverged_timelines: true,
          parameters: { synchronous_commit: "on", max_connections: 200, wal_keep_size: "256MB" },
        },
      },
      initdb: [{ encoding: "UTF8" }, { locale: "C" }, "data-checksums"],
      post_bootstrap: `psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --file ${createFile}`,
    },
    postgresql: {
      ...{ listen: `${HOST}:${node.port}`, connect_address: `${HOST}:${node.port}` },
      ...{ data_dir: dataOf(node), bin_dir: programs.postgres, pgpass: join(node.folder, "pgpass") },
      authentication: {
        superuser: { username: "postgres", password: passwords.postgres },
        replication: { username: "replicator", password: passwords.replicator },
        rewind: { username: "rewind", password: passwords.rewind },
      },
      // A copy begins at once, not when the next checkpoint is due. Without a slot, it does not count as a standby: while
      // there is none, Patroni sets synchronous_standby_names to *, and that is any receiver that says what it has.
      create_replica_methods: ["basebackup"],
      basebackup: [{ checkpoint: "fast" }, "no-slot"],
      pg_hba: [`host all all ${HOST}/32 scram-sha-256`, `host replication replicator ${HOST}/32 scram-sha-256`],
      parameters: {
        unix_socket_directories: "",
        shared_buffers: "32MB",
        // In the data folder, so that nothing stays in /dev/shm after a kill.
        dynamic_shared_memory_type: "mmap",
        wal_retrieve_retry_interval: "500ms",
      },
    },
  };
  const path = join(node.folder, "patroni.json");
  writeOwned(path, JSON.stringify(configuration, undefined, 2), owner);
  return path;
}

/** Creates a folder for the user that runs the nodes. */
export function makeOwned(folder, owner) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (owner) chownSync(folder, owner.uid, owner.gid);
}

function writeOwned(path, text, owner) {
  writeFileSync(path, text, { mode: 0o600 });
  chmodSync(path, 0o600);
  if (owner) chownSync(path, owner.uid, owner.gid);
}

/** What Patroni says about its cluster, from the first node that answers: `{ name, role, state }` of every member. */
export async function membersOf({ postgres }) {
  for (const { rest } of postgres) {
    const answer = await ask(`http://${HOST}:${rest}/cluster`);
    if (answer?.members) return answer.members;
  }
  return [];
}

/** Every node with its role and state, and whether it is as it should be. */
export async function statusOf(nodes) {
  const members = await membersOf(nodes);
  const etcds = nodes.etcds.map(async ({ name, client }) => {
    const isWell = (await ask(`http://${HOST}:${client}/health`))?.health === "true";
    return { name, role: "member", state: isWell ? "healthy" : "down", isWell };
  });
  const postgres = nodes.postgres.map(async ({ name, rest }) => {
    const { role = "unknown", state = "down" } = members.find((member) => member.name === name) ?? {};
    const answers = (await ask(`http://${HOST}:${rest}/patroni`)) !== undefined;
    return { name, role, state: answers ? state : "down", isWell: answers && state === "running" };
  });
  return Promise.all([...etcds, ...postgres]);
}

/** Undefined if nobody answers. */
async function ask(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) });
    return await response.json();
  } catch {
    return undefined;
  }
}
