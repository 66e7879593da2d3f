import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { windowSeconds } from "@lethe/core/message";
import { openKeyFile } from "../../../server/dist/tally/key-file.js";
import type { Bug } from "./bugs.ts";
import { createDatabase, type SimulatedDatabase, type Watcher } from "./database.ts";
import { createDevice, digestOf, type SimulatedDevice } from "./devices.ts";
import { type Engine, empty } from "./engine.ts";
import { type Fault, type History, PROCESSES, START } from "./history.ts";
import { createNetwork, type Network, type RequestFault, type SentRequest, setRunningNetwork } from "./network.ts";
import { createOracle, type Oracle, type Violation, type WatchedEngine } from "./oracle.ts";
import { FOLDER_PREFIX, plant } from "./platform.ts";
import { ADMIN_TOKEN, keepRunning, type LogLine, PUBLIC_HOST, type ServiceSpec } from "./services.ts";
import { createWorld, type SimulatedProcess, type World } from "./world.ts";

/** What became of a history. */
export interface Outcome {
  readonly violations: readonly Violation[];
  /** How often each fault occurred in each phase of a window: `fault / phase`. */
  readonly faults: ReadonlyMap<string, number>;
  /** What can be seen of each device from outside. */
  readonly traces: ReadonlyMap<string, readonly string[]>;
  /** Everything that happened on the network and in the databases, as a hash. */
  readonly digest: string;
  readonly log: readonly string[];
  readonly acknowledged: number;
}

const EARLY_SECONDS = 15;
const PEER_SECRET = "what only the leader and the helper of the simulation know";
const TALLY_HOST = "tally.test";
const HELPER_HOST = "helper.test";
/** After the last window and its grace, everything is over within this time, whatever happened before. */
const AFTERMATH_SECONDS = 120;
const SLICE_SECONDS = 5;

/** Runs a history from its beginning to its end. `engines` are two databases, which are emptied. */
export async function runHistory(
  history: History,
  engines: readonly Engine[],
  options: { readonly bug?: Bug | undefined; readonly hasEvents: boolean },
): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), FOLDER_PREFIX));
  const run = createRun(history, engines, folder, options);
  try {
    for (const [i, { engine }] of run.watched.entries()) await empty(engine, `${history.seed}-${i}`);
    await run.live();
    return run.outcome();
  } finally {
    await run.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether all windows with lower numbers are erased everywhere. */
async function areErased(watched: readonly WatchedEngine[], before: number): Promise<boolean> {
  for (const { engine } of watched) {
    if ((await engine.query("SELECT 1 FROM windows WHERE number < $1 AND NOT erased", [before])).length > 0)
      return false;
  }
  return true;
}

/** A history under way. */
interface Run {
  readonly watched: readonly WatchedEngine[];
  live(): Promise<void>;
  outcome(): Outcome;
  end(): Promise<void>;
}

function createRun(
  history: History,
  engines: readonly Engine[],
  folder: string,
  { bug, hasEvents }: { readonly bug?: Bug | undefined; readonly hasEvents: boolean },
): Run {
  const { topology, task } = history;
  const isPair = topology === "pair";
  const log: string[] = [];
  const faults = createFaults(history, (what, who) => {
    const label = `${what} / ${oracle.phaseOf(who)}`;
    counts.set(label, (counts.get(label) ?? 0) + 1);
    log.push(`${world.now()} ${who} ${label}`);
  });
  const counts = new Map<string, number>();
  const processes = new Set<SimulatedProcess>();
  const world = watching(
    createWorld(String(history.seed), START - 1000 * EARLY_SECONDS, (process) => faults.atPort(process, world)),
    processes,
  );
  const watched = watchedEngines(history, engines, folder);
  const oracle = createOracle(PEER_SECRET, isPair, () => watched);
  const databases = watched.map((each) =>
    createDatabase(
      world,
      each.engine,
      watcherOf(each, oracle, faults, (line) => log.push(`${world.now()} ${line}`)),
      {
        rewrite: bug?.rewrite,
        isShared: topology === "several" || topology === "divided",
      },
    ),
  );
  const network = createNetwork(
    world,
    networkWatcher(world, oracle, faults, bug, log, () => devices),
  );
  const devices: SimulatedDevice[] = [];

  async function live(): Promise<void> {
    setRunningNetwork(network);
    plant(bug ?? {});
    const keys = makeKeyFiles(world, watched);
    for (const spec of specsOf(history, databases, watched, keys)) {
      keepRunning(spec, {
        world,
        network,
        wrap: bug?.wrap ?? ((database) => database),
        onError: (process, line) => noteError(oracle, process, line),
        restartAfter: faults.restartAfter,
      });
    }
    const around = {
      world,
      network,
      task: task.task,
      windowSeconds: windowSeconds(task),
      reportEpsilon:
        1.001 *
        task.metrics.reduce((sum, metric) => sum + ("localEpsilon" in metric ? (metric.localEpsilon ?? 0) : 0), 0),
      keys: { operatorKey: keys[0] as string, ...(isPair && { helperKey: keys[1] as string }) },
      hasEvents,
      isForgetful: bug?.isForgetful ?? false,
      writesOnEvents: bug?.writesOnEvents ?? false,
      onProblem: (device: string, code: string, message: string) => noteProblem(oracle, device, code, message),
      onAct: faults.noteAct,
    };
    await createTask(world, network, history, 1);
    await world.runUntil(START);
    for (const plan of history.devices) devices.push(createDevice(plan, around));
    scheduleFaults(history, world, network, faults);
    const end = START + 1000 * (history.windows * windowSeconds(task) + task.graceSeconds);
    await world.runUntil(end);
    faults.stop();
    network.setAway(HELPER_HOST, false);
    for (const device of devices) device.close();
    const after = START / 1000 / windowSeconds(task) + history.windows;
    for (let slice = 0; slice < AFTERMATH_SECONDS / SLICE_SECONDS; slice++) {
      await world.runUntil(world.now() + 1000 * SLICE_SECONDS);
      if (await areErased(watched, after)) break;
    }
    await oracle.finish(watched, after);
    requireBudgets(history, oracle);
  }

  return {
    watched,
    live,
    outcome: () => ({
      violations: oracle.violations,
      faults: counts,
      traces: new Map(devices.map(({ name, trace }) => [name, trace])),
      log,
      digest: digestOf([...log, ...devices.flatMap(({ trace }) => trace)]),
      acknowledged: log.filter((line) => line.includes("PUT 201")).length,
    }),
    end: async () => {
      faults.stop();
      for (const process of processes) world.kill(process);
      // What was begun is rolled back.
      await world.runUntil(world.now() + 500);
      plant({});
      setRunningNetwork(undefined);
    },
  };
}

/** The same world; notes every process. */
function watching(world: World, processes: Set<SimulatedProcess>): World {
  const { spawn } = world;
  return Object.assign(world, {
    spawn: (name: string) => {
      const process = spawn(name);
      processes.add(process);
      process.onDeath.push(() => processes.delete(process));
      return process;
    },
  });
}

function watchedEngines({ topology }: History, engines: readonly Engine[], folder: string): WatchedEngine[] {
  const names = { one: ["first"], several: ["first"], divided: ["first", "second"], pair: ["leader", "helper"] }[
    topology
  ];
  return names.map((name, i) => ({
    name,
    engine: engines[i] as Engine,
    keyFile: join(folder, `${topology === "pair" ? name : "one"}.keys.json`),
  }));
}

/** Makes the key files; the operator keys. */
function makeKeyFiles(world: World, watched: readonly WatchedEngine[]): string[] {
  const setup = world.spawn("setup");
  return watched.map(({ name, keyFile }) =>
    world.as(setup, name, () => {
      const file = openKeyFile(keyFile);
      file.close();
      return file.operatorKey;
    }),
  );
}

function specsOf(
  { topology }: History,
  databases: readonly SimulatedDatabase[],
  watched: readonly WatchedEngine[],
  keys: readonly string[],
): ServiceSpec[] {
  return PROCESSES[topology].map((name): ServiceSpec => {
    const [kind = ""] = name.split(" ");
    if (kind === "leader" || kind === "helper") {
      const own = kind === "leader" ? 0 : 1;
      const peer = { secret: PEER_SECRET, operatorKey: keys[1 - own] as string };
      return {
        name,
        role: kind,
        host: kind === "leader" ? PUBLIC_HOST : HELPER_HOST,
        databases: [databases[own] as SimulatedDatabase],
        keyFile: watched[own]?.keyFile as string,
        peer: kind === "leader" ? { ...peer, url: `http://${HELPER_HOST}` } : peer,
      };
    }
    const role = kind as "all" | "intake" | "tally";
    const host = role === "tally" ? TALLY_HOST : PUBLIC_HOST;
    return { name, role, host, databases, keyFile: watched[0]?.keyFile as string };
  });
}

/** The operators create the task, and a new version of it; they ask until it is done. */
async function createTask(world: World, network: Network, { topology, task }: History, version: number): Promise<void> {
  const admin = world.spawn("admin");
  const ask = async (host: string, path: string): Promise<void> => {
    for (;;) {
      try {
        const response = await network.fetchOf(admin)(`http://${host}${path}`, {
          method: "POST",
          headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
          body: JSON.stringify({ ...task, version }),
        });
        if (response.ok) return;
      } catch {
        // Nobody listens yet.
      }
      await new Promise((resolve) => world.later(1000, admin, () => resolve(undefined)));
    }
  };
  world.later(0, admin, async () => {
    if (topology === "pair") await ask(HELPER_HOST, "/v1/agreements");
    await ask(topology === "several" || topology === "divided" ? TALLY_HOST : PUBLIC_HOST, "/v1/tasks");
  });
}

function scheduleFaults(history: History, world: World, network: Network, faults: Faults): void {
  const { task, topology } = history;
  for (const fault of history.faults) {
    if (!("at" in fault)) continue;
    world.later(1000 * fault.at, undefined, () => {
      faults.note(fault.what, "everybody");
      if (fault.what === "new version") void createTask(world, network, history, 2);
      if (fault.what === "helper away") {
        network.setAway(HELPER_HOST, true);
        world.later(1000 * fault.seconds, undefined, () => network.setAway(HELPER_HOST, false));
      }
      if (fault.what !== "closed early") return;
      const admin = world.spawn("closing admin");
      const host = topology === "several" || topology === "divided" ? TALLY_HOST : PUBLIC_HOST;
      const window = Math.floor(world.now() / 1000 / windowSeconds(task));
      for (let i = 0; i < fault.times; i++) {
        world.later(0, admin, () =>
          network
            .fetchOf(admin)(`http://${host}/v1/tasks/${task.task}/windows/${window}/close`, {
              method: "POST",
              headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
            })
            .catch(() => undefined),
        );
      }
    });
  }
}

/** The faults of a history, and when each one's time has come. */
interface Faults {
  atPort(process: SimulatedProcess, world: World): "dies" | "lives";
  atStatement(process: string): "before" | "after" | undefined;
  atRequest(from: string, nth: number): readonly RequestFault[];
  hasStranger(from: string): boolean;
  restartAfter(name: string): number;
  note(what: string, who: string): void;
  noteAct(what: string): void;
  /** From now on nothing goes wrong. */
  stop(): void;
}

const QUIET_ACTS = ["open", "record"];

function createFaults({ faults }: History, note: (what: string, who: string) => void): Faults {
  const ports = new Map<string, number>();
  const statements = new Map<string, number>();
  const restarts = new Map<string, number>();
  let isOver = false;
  const next = (counts: Map<string, number>, who: string): number => {
    const nth = (counts.get(who) ?? 0) + 1;
    counts.set(who, nth);
    return nth;
  };
  const due = (who: string, nth: number, kinds: readonly string[]): Fault[] =>
    isOver
      ? []
      : faults.filter(
          (fault) => "who" in fault && fault.who === who && fault.nth === nth && kinds.includes(fault.what),
        );

  return {
    atPort: (process, world) => {
      const found = due(process.name, next(ports, process.name), ["killed", "stalled"]);
      for (const fault of found) {
        note(fault.what, process.name);
        if (fault.what === "killed") restarts.set(process.name, fault.seconds);
        if (fault.what === "stalled") process.stalledUntil = world.now() + 1000 * fault.seconds;
      }
      return found.some(({ what }) => what === "killed") ? "dies" : "lives";
    },
    atStatement: (who) => {
      const [fault] = due(who, next(statements, who), ["statement lost", "commit unknown"]);
      if (!fault) return undefined;
      note(fault.what, who);
      return fault.what === "statement lost" ? "before" : "after";
    },
    atRequest: (from, nth) => {
      const kinds = ["request lost", "answer lost", "request twice", "request late", "cut off"];
      const found = due(from, nth, kinds) as (Fault & RequestFault)[];
      for (const { what } of found) note(what, from);
      return found;
    },
    hasStranger: (from) => {
      const has = !isOver && faults.some((fault) => fault.what === "stranger" && fault.who === from);
      if (has) note("stranger", from);
      return has;
    },
    restartAfter: (name) => (isOver ? 1 : (restarts.get(name) ?? 3)),
    note,
    noteAct: (what) => {
      if (!QUIET_ACTS.includes(what)) note(`device: ${what}`, "everybody");
    },
    stop: () => {
      isOver = true;
    },
  };
}

function watcherOf(database: WatchedEngine, oracle: Oracle, faults: Faults, log: (line: string) => void): Watcher {
  return {
    before: (process, statement) => {
      log(`${process.name}: ${statement.sql.slice(0, 60)}`);
      return oracle.before(database, process, statement);
    },
    after: async (process, statement, rows) => oracle.after(database, process, statement, rows),
    ended: (process, transaction, isCommitted) => oracle.ended(database, process, transaction, isCommitted),
    fails: (process) => faults.atStatement(process.name),
  };
}

function networkWatcher(
  world: World,
  oracle: Oracle,
  faults: Faults,
  bug: Bug | undefined,
  log: string[],
  devices: () => readonly SimulatedDevice[],
): Parameters<typeof createNetwork>[1] {
  const uploads = new Map<string, number>();
  return {
    sent: (request) => {
      const { from, method, path, body } = request;
      oracle.sent(request);
      log.push(`${world.now()} ${from} ${method} ${path} ${body.length}`);
      const name = from.replace(/ b$/, "");
      devices()
        .find((device) => device.name === name)
        ?.note(`${method} ${path.length} ${body.length}`);
    },
    answered: (request, status) => {
      oracle.answered(request, status);
      log.push(`${world.now()} ${request.from} ${request.method} ${status}`);
    },
    faults: faults.atRequest,
    hasStranger: faults.hasStranger,
    rewrite: (request: SentRequest) => {
      if (request.method !== "PUT" || !bug?.request) return request;
      const times = uploads.get(request.path) ?? 0;
      uploads.set(request.path, times + 1);
      return bug.request(request, times);
    },
  };
}

/** What a service may log as an error because of the faults. */
const EXPLAINED = [
  /the database does not answer|connection was lost/,
  /the helper at .* (cannot be reached|answered 503)/,
];

function noteError(oracle: Oracle, process: SimulatedProcess, { msg, reason = "", code = "" }: LogLine): void {
  if (process.isDead || EXPLAINED.some((pattern) => pattern.test(reason))) return;
  oracle.violate("a service does not fail by itself", `${process.name}: ${msg} ${code} ${reason}`);
}

/** What a device may report because of the faults. */
const EXPECTED_PROBLEMS = [
  "unreachable",
  "unknown-task",
  "window-closed",
  "window-not-open",
  "no-keys-left",
  "events-dropped",
  "budget-spent",
  "bad-store",
];

function noteProblem(oracle: Oracle, device: string, code: string, message: string): void {
  if (!EXPECTED_PROBLEMS.includes(code))
    oracle.violate("a device has no unexpected problem", `${device}: ${code} ${message}`);
}

function requireBudgets(history: History, oracle: Oracle): void {
  for (const { name, reports } of history.devices) {
    if (reports === undefined) continue;
    const sent = oracle.reportsOf(name);
    if (sent > reports)
      oracle.violate("a device keeps within its budget", `${name} sent ${sent} reports, not ${reports}`);
  }
}
