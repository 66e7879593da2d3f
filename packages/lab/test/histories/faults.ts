import type { Fault, History } from "./history.ts";
import type { RequestFault } from "./network.ts";
import type { SimulatedProcess, World } from "./world.ts";

/** The faults of a history, and when each one's time has come. */
export interface Faults {
  atPort(process: SimulatedProcess, world: World): "dies" | "lives";
  atStatement(process: string): "before" | "after" | undefined;
  /** Whether a process dies when it has executed this statement. */
  diesAfter(who: string, sql: string): boolean;
  atRequest(from: string, nth: number): readonly RequestFault[];
  hasStranger(from: string): boolean;
  restartAfter(name: string): number;
  note(what: string, who: string): void;
  noteAct(what: string): void;
  /** From now on nothing goes wrong. */
  stop(): void;
}

const QUIET_ACTS = ["open", "record"];

/** `note` hears of every fault that occurs. */
export function createFaults({ faults }: History, note: (what: string, who: string) => void): Faults {
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
          (fault) =>
            "who" in fault &&
            fault.who === who &&
            fault.nth === nth &&
            !("after" in fault) &&
            kinds.includes(fault.what),
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
    diesAfter: (who, sql) => {
      const begins = faults.flatMap((fault) =>
        "after" in fault && fault.who === who && sql.startsWith(fault.after) ? [fault] : [],
      );
      if (begins.length === 0) return false;
      const nth = next(statements, `${who} ${begins[0]?.after}`);
      const found = isOver ? undefined : begins.find((fault) => fault.nth === nth);
      if (!found) return false;
      note("killed", who);
      restarts.set(who, found.seconds);
      return true;
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
