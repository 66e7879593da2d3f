import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { windowSeconds } from "@lethe/core/message";
import type { Bug } from "./bugs.ts";
import { makeKeyFiles, PEER_SECRET, specsOf, watchedEngines } from "./cast.ts";
import { createDatabase, type Watcher } from "./database.ts";
import { createDevice, digestOf, type SimulatedDevice } from "./devices.ts";
import { type Engine, empty } from "./engine.ts";
import { noteError, noteProblem } from "./explained.ts";
import { createFaults, type Faults } from "./faults.ts";
import { type History, START } from "./history.ts";
import { createNetwork, type SentRequest, setRunningNetwork } from "./network.ts";
import { createTask, scheduleFaults } from "./operators.ts";
import { createOracle, type Oracle, type Violation, type WatchedEngine } from "./oracle.ts";
import { FOLDER_PREFIX, plant } from "./platform.ts";
import { HELPER_HOST, keepRunning } from "./services.ts";
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
      watcherOf(world, each, oracle, faults, (line) => log.push(`${world.now()} ${line}`)),
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

function watcherOf(
  world: World,
  database: WatchedEngine,
  oracle: Oracle,
  faults: Faults,
  log: (line: string) => void,
): Watcher {
  return {
    before: (process, statement) => {
      log(`${process.name}: ${statement.sql.slice(0, 60)}`);
      return oracle.before(database, process, statement);
    },
    after: async (process, statement, rows) => {
      oracle.after(database, process, statement, rows);
      if (faults.diesAfter(process.name, statement.sql)) world.kill(process);
    },
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

function requireBudgets(history: History, oracle: Oracle): void {
  for (const { name, reports } of history.devices) {
    if (reports === undefined) continue;
    const sent = oracle.reportsOf(name);
    if (sent > reports)
      oracle.violate("a device keeps within its budget", `${name} sent ${sent} reports, not ${reports}`);
  }
}
