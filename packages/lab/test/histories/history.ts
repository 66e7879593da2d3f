import type { Task } from "@lethe/core/message";
import { type Draws, drawsOf } from "./draws.ts";

/** Which processes a history has, and how they share databases. */
export type Topology = "one" | "several" | "divided" | "pair";

/** What is done to a device, at a time in seconds after the beginning. */
export interface Act {
  readonly at: number;
  readonly what: "open" | "close" | "crash" | "power loss" | "sleep" | "jump" | "withdraw" | "consent" | "record";
  /** Which of the programs that share the device's store. */
  readonly tab: number;
  /** Seconds of sleep, or by which the clock jumps. */
  readonly seconds?: number;
  /** What `record` records. */
  readonly event?: string;
}

/** A device, and its life. */
export interface DevicePlan {
  readonly name: string;
  readonly group?: string;
  /** By how many seconds its clock is wrong. */
  readonly skew: number;
  /** The application's budget: this many reports per day. */
  readonly reports?: number;
  readonly acts: readonly Act[];
}

/** Something that goes wrong at the n-th request, statement or call of a port of somebody. */
export type Fault =
  | {
      readonly what: "killed";
      readonly who: string;
      readonly nth: number;
      readonly seconds: number;
      /** Not at a call of a port: when the n-th statement that begins like this was executed. */
      readonly after?: string;
    }
  | { readonly what: "stalled"; readonly who: string; readonly nth: number; readonly seconds: number }
  | {
      readonly what: "request lost" | "answer lost" | "request twice" | "request late" | "cut off" | "stranger";
      readonly who: string;
      readonly nth: number;
      readonly seconds: number;
    }
  | { readonly what: "statement lost" | "commit unknown"; readonly who: string; readonly nth: number }
  | { readonly what: "helper away"; readonly at: number; readonly seconds: number }
  | { readonly what: "closed early"; readonly at: number; readonly times: number }
  | { readonly what: "new version"; readonly at: number };

/** Everything that is decided before a history begins. The rest derives from the seed. */
export interface History {
  readonly seed: number;
  readonly topology: Topology;
  readonly task: Task;
  /** How many windows devices live through. */
  readonly windows: number;
  readonly devices: readonly DevicePlan[];
  readonly faults: readonly Fault[];
}

/** 2026-01-01T00:00:00Z: a window of every task begins there. */
export const START: number = Date.UTC(2026, 0, 1);
/** In one of this many histories, processes are killed in the middle of what must happen once. */
const AIMED = 3;

/** How the statements begin that change what is counted, closed, published and erased. */
const CRITICAL = [
  "INSERT INTO windows",
  "UPDATE tallies",
  "INSERT INTO releases",
  "UPDATE windows SET state",
  "UPDATE windows SET erasing_by",
  "UPDATE windows SET erased",
] as const;
/** Those besides that mark a report as counted. */
const MARKING = { helper: "INSERT INTO shared_reports", others: "DELETE FROM uncounted\n" } as const;

/** The processes of a topology. */
export const PROCESSES: Readonly<Record<Topology, readonly string[]>> = {
  one: ["all"],
  several: ["intake 1", "intake 2", "tally 1", "tally 2"],
  divided: ["intake 1", "intake 2", "tally 1", "tally 2"],
  pair: ["leader", "helper"],
};

/** The history of a seed. */
export function historyOf(seed: number): History {
  const draws = drawsOf("history", seed);
  const topology = draws.pick(["one", "several", "several", "divided", "pair", "pair"] as const);
  const task = taskOf(draws, topology);
  const windows = 1 + draws.below(3);
  const seconds = task.ticks * task.tickSeconds;
  const devices = Array.from({ length: 1 + draws.below(4) }, (_, i) =>
    deviceOf(drawsOf("device", seed, i), `device ${i + 1}`, task, windows * seconds),
  );
  const faults = [
    ...faultsOf(drawsOf("faults", seed), topology, devices, windows * seconds),
    ...(seed % AIMED === 0 ? aimedFaults(drawsOf("aimed", seed), topology) : []),
  ];
  return { seed, topology, task, windows, devices, faults };
}

function taskOf(draws: Draws, topology: Topology): Task {
  const isPair = topology === "pair";
  const isLattice = !isPair && draws.chance(0.5);
  const names = ["opened", "failed"].slice(0, 1 + draws.below(2));
  return {
    version: 1,
    task: "simulated",
    tickSeconds: 10 + 10 * draws.below(2),
    ticks: 2 + draws.below(2),
    graceSeconds: 20,
    hides: draws.pick([2, 8]),
    mode: isPair ? "two-server" : "one-server",
    scheme: isLattice ? "lattice" : "elgamal",
    minimumDevices: 1 + draws.below(2),
    ...(draws.chance(0.4) && { groups: ["north", "south"] }),
    metrics: names.map((name) => ({ name, statistic: "occurrence", localEpsilon: isLattice ? 1 : 20 })),
  };
}

function deviceOf(draws: Draws, name: string, task: Task, seconds: number): DevicePlan {
  const acts: Act[] = [];
  const tabs = draws.chance(0.25) ? 2 : 1;
  for (let tab = 0; tab < tabs; tab++) {
    acts.push({ at: draws.chance(0.6) ? draws.below(5) : draws.below(seconds), what: "open", tab });
    const most = draws.chance(0.6) ? 0 : 1 + draws.below(3);
    for (let i = 0; i < most; i++) {
      const at = draws.below(seconds);
      const what = draws.pick(["close", "crash", "power loss", "sleep", "jump", "withdraw"] as const);
      acts.push({ at, what, tab, seconds: what === "jump" ? draws.pick([-40, -5, 7, 60]) : 1 + draws.below(40) });
      const back = { at: at + 1 + draws.below(20), tab };
      if (what === "close" || what === "crash" || what === "power loss") acts.push({ ...back, what: "open" });
      if (what === "withdraw") acts.push({ ...back, what: "consent" });
    }
  }
  const events = task.metrics.map((metric) => metric.name);
  for (let i = draws.below(6); i > 0; i--) {
    acts.push({ at: draws.below(seconds) + 0.5, what: "record", tab: draws.below(tabs), event: draws.pick(events) });
  }
  return {
    name,
    ...(task.groups && { group: draws.pick(task.groups) }),
    skew: draws.chance(0.7) ? 0 : draws.below(11) - 5,
    ...(draws.chance(0.15) && { reports: 1 }),
    acts: acts.toSorted((a, b) => a.at - b.at),
  };
}

function faultsOf(draws: Draws, topology: Topology, devices: readonly DevicePlan[], seconds: number): Fault[] {
  const faults: Fault[] = [];
  const processes = PROCESSES[topology];
  // Every fifth history is quiet, so that what goes wrong there cannot be blamed on a fault.
  if (draws.chance(0.2)) return faults;
  for (let i = draws.below(4); i > 0; i--) {
    const who = draws.pick(processes);
    // Most calls are polls; the early ones are starts and tasks.
    const nth = 1 + Math.floor(10 ** (1 + 2.2 * (draws.below(1000) / 1000)));
    const seconds = 1 + draws.below(20);
    faults.push({ what: draws.chance(0.75) ? "killed" : "stalled", who, nth, seconds });
  }
  const asking = [...devices.map(({ name }) => name), ...(topology === "pair" ? ["leader", "leader"] : [])];
  for (let i = draws.below(7); i > 0; i--) {
    const what = draws.pick(["request lost", "answer lost", "request twice", "request late", "cut off", "stranger"]);
    faults.push({ what, who: draws.pick(asking), nth: 1 + draws.below(8), seconds: 1 + draws.below(30) } as Fault);
  }
  for (let i = draws.below(3); i > 0; i--) {
    const what = draws.pick(["statement lost", "commit unknown"] as const);
    faults.push({
      what,
      who: draws.pick(processes),
      nth: 1 + Math.floor(10 ** (1 + 1.6 * (draws.below(1000) / 1000))),
    });
  }
  if (topology === "pair" && draws.chance(0.3)) {
    faults.push({ what: "helper away", at: draws.below(seconds), seconds: 5 + draws.below(60) });
  }
  if (draws.chance(0.2)) faults.push({ what: "closed early", at: draws.below(seconds), times: 1 + draws.below(2) });
  if (draws.chance(0.25)) faults.push({ what: "new version", at: draws.below(seconds) });
  return faults;
}

function aimedFaults(draws: Draws, topology: Topology): Fault[] {
  const counting = PROCESSES[topology].filter((name) => !name.startsWith("intake"));
  return Array.from({ length: 1 + draws.below(3) }, () => {
    const who = draws.pick(counting);
    const marking = who === "helper" ? MARKING.helper : MARKING.others;
    const after = draws.pick([...CRITICAL, marking]);
    return { what: "killed" as const, who, after, nth: 1 + draws.below(3), seconds: 1 + draws.below(20) };
  });
}
