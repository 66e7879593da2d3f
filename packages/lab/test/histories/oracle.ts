import { readFileSync } from "node:fs";
import { encodeBase64url } from "@lethe/core/message";
import type { Statement } from "./database.ts";
import type { Engine } from "./engine.ts";
import type { SentRequest } from "./network.ts";
import { type Ended, recountRelease, recountShares, type StoredReport } from "./recount.ts";
import type { SimulatedProcess } from "./world.ts";

/** Where a window is, for the table of faults. */
type Phase = "before" | "collecting" | "closed" | "counting" | "releasing" | "released" | "erased";

/** A database, and the key file that opens what is in it. */
export interface WatchedEngine {
  readonly name: string;
  readonly engine: Engine;
  readonly keyFile: string;
}

/** Something that must never happen, and did. */
export interface Violation {
  readonly rule: string;
  readonly detail: string;
}

/**
 * Watches a history from outside: what devices send, what is answered, every statement of every database, the key files
 * and the logs. It knows every secret, and says what must never happen.
 */
export interface Oracle {
  readonly violations: Violation[];
  violate(rule: string, detail: string): void;
  phaseOf(process: string): Phase;
  sent(request: SentRequest): void;
  /** How many different reports a device has sent. */
  reportsOf(device: string): number;
  answered(request: SentRequest, status: number): void;
  before(database: WatchedEngine, process: SimulatedProcess, statement: Statement): Promise<void>;
  after(database: WatchedEngine, process: SimulatedProcess, statement: Statement, rows: readonly unknown[]): void;
  ended(database: WatchedEngine, process: SimulatedProcess, transaction: number, isCommitted: boolean): Promise<void>;
  /** After the last window: everything that was acknowledged is counted, and nothing else is left. */
  finish(databases: readonly WatchedEngine[], closedBefore: number): Promise<void>;
}

interface Outcome extends Ended {
  readonly role: string;
  readonly document: string;
  readonly status: string;
  readonly process: string;
}

interface Acknowledged {
  readonly task: string;
  readonly window: number;
  readonly device: string;
}

const STATES = ["collecting", "closed", "released", "not-enough", "lost"];
const rank = (state: string | undefined): number => Math.min(STATES.indexOf(state ?? ""), 2);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const UPLOAD = /^\/v1\/tasks\/([^/]+)\/windows\/(\d+)\/reports\/([\w-]+)$/;

/** `isPair`: the databases are those of a leader and a helper; otherwise all belong to one server. */
export function createOracle(peerSecret: string, isPair: boolean, others: () => readonly WatchedEngine[]): Oracle {
  const violations: Violation[] = [];
  /** By device id: what its owner sent first. */
  const bodies = new Map<string, string>();
  /** By device id: who sent it. */
  const owners = new Map<string, string>();
  const acknowledged = new Map<string, Acknowledged>();
  const secrets = new Map<string, Uint8Array>();
  const nonces = new Map<string, string>();
  const open = new Map<string, Outcome[]>();
  const outcomes = new Map<string, Outcome>();
  const activity = new Map<string, Phase>();
  const windows = new Map<string, Phase>();

  const violate = (rule: string, detail: string): void => void violations.push({ rule, detail });
  const keyOf = (database: WatchedEngine, transaction: number): string => `${database.name} ${transaction}`;

  function learnSecrets({ name, keyFile }: WatchedEngine): void {
    const { windows: all } = JSON.parse(readFileSync(keyFile, "utf8")) as { windows: Record<string, string> };
    for (const [window, text] of Object.entries(all)) {
      secrets.set(`${isPair ? name : "one"} ${window}`, Buffer.from(text, "base64url"));
    }
  }

  async function reportsIn({ engine, name }: WatchedEngine, task: string, window: number): Promise<StoredReport[]> {
    if (isPair && name === "helper") return [];
    return engine.query<StoredReport>(
      `SELECT reports.device, body, coalesce(group_number, 0)::int AS "group"
       FROM reports JOIN windows ON windows.id = reports.window_id
       LEFT JOIN devices ON devices.device = reports.device
       WHERE windows.name = $1 AND windows.number = $2 ORDER BY reports.device`,
      [task, window],
    );
  }

  /** What a result is made from, at the moment when it is stored. */
  async function noteOutcome(
    database: WatchedEngine,
    process: string,
    { values, transaction }: Statement,
  ): Promise<void> {
    const [task, window, document] = values as [string, number, string];
    const [row] = await database.engine.query<{ manifest: string }>(
      "SELECT manifest FROM tasks JOIN windows ON task_id = tasks.id WHERE windows.name = $1 AND windows.number = $2",
      [task, window],
    );
    const stored = isPair ? [database] : others();
    const reports = (await Promise.all(stored.map((each) => reportsIn(each, task, window)))).flat();
    const { status } = JSON.parse(document) as { status: string };
    const role = isPair ? database.name : "one";
    const outcome = { task, window, document, status, reports, role, process, manifest: row?.manifest ?? "" };
    if (transaction === undefined) await conclude(outcome);
    else {
      const key = keyOf(database, transaction);
      open.set(key, [...(open.get(key) ?? []), outcome]);
    }
  }

  async function conclude(outcome: Outcome): Promise<void> {
    const { role, task, window, status, document, reports, process } = outcome;
    const what = `${role} ${task}/${window}`;
    const before = outcomes.get(what);
    if (before)
      violate("a window has one release", `${what} was released again by ${process}: ${before.document} / ${document}`);
    outcomes.set(what, outcome);
    if (status === "lost") violate("no window is lost", what);
    for (const { device, body } of reports) {
      const sent = bodies.get(encodeBase64url(device));
      if (sent !== hex(body))
        violate("nothing else is counted", `${what} counts a report of ${hex(device)} that it did not send`);
    }
    if (status === "released") {
      const windowSecret = secrets.get(`one ${task}/${window}`);
      if (!windowSecret) return violate("a release has a secret", what);
      const { expected, published } = recountRelease(outcome, windowSecret, document);
      if (expected !== published)
        violate("a release equals a recount", `${what}: ${expected} but published ${published}`);
    } else if (role === "one") {
      const { received } = JSON.parse(document) as { received: number };
      if (received !== reports.length)
        violate("a release equals a recount", `${what}: ${reports.length}, not ${received}`);
    }
    const [leader, helper] = ["leader", "helper"].map((each) => outcomes.get(`${each} ${task}/${window}`));
    if (leader && helper) await compareServers(leader, helper);
  }

  async function compareServers(leader: Outcome, helper: Outcome): Promise<void> {
    const what = `${leader.task}/${leader.window}`;
    if (leader.status !== helper.status)
      return violate("both servers count the same", `${what}: ${leader.status}, ${helper.status}`);
    if (leader.status !== "shared") return;
    const [one, other] = [secrets.get(`leader ${what}`), secrets.get(`helper ${what}`)];
    if (!one || !other) return violate("a release has a secret", what);
    const recount = await recountShares(leader, { leader: one, helper: other }, peerSecret, {
      leader: leader.document,
      helper: helper.document,
    });
    if (recount.expected !== recount.published) {
      violate("a release equals a recount", `${what}: ${recount.expected} but published ${recount.published}`);
    }
  }

  function noteSeal(database: WatchedEngine, sealed: unknown): void {
    if (!(sealed instanceof Uint8Array)) return;
    const nonce = `${database.name} ${hex(sealed.subarray(0, 12))}`;
    const before = nonces.get(nonce);
    if (before !== undefined && before !== hex(sealed)) violate("a nonce is used once", nonce);
    nonces.set(nonce, hex(sealed));
  }

  async function requireForward(database: WatchedEngine, { sql, values }: Statement): Promise<void> {
    const to = /state = '(\w+)'/.exec(sql)?.[1] ?? String(values[1]);
    const [row] = await database.engine.query<{ state: string }>("SELECT state FROM windows WHERE id = $1", [
      values[0] ?? 0,
    ]);
    if (row && rank(to) <= rank(row.state)) violate("a window's state only goes forward", `${row.state} to ${to}`);
  }

  return {
    violations,
    violate,
    phaseOf: (process) =>
      activity.get(process) ?? [...windows.values()].find((phase) => phase !== "erased") ?? "before",
    sent: ({ from, method, path, body }) => {
      const [, , , device] = UPLOAD.exec(path) ?? [];
      if (method !== "PUT" || device === undefined || from === "stranger") return;
      const before = bodies.get(device);
      if (before !== undefined && before !== hex(body))
        violate("a retry has the same bytes", `${from} sent two reports as ${device}`);
      bodies.set(device, before ?? hex(body));
      owners.set(device, from.replace(/ b$/, ""));
    },
    reportsOf: (name) => [...owners.values()].filter((owner) => owner === name).length,
    answered: ({ from, method, path }, status) => {
      if (status === 500) violate("no request fails", `${method} ${path} of ${from} got 500`);
      const [, task = "", window, device] = UPLOAD.exec(path) ?? [];
      if (device === undefined || method !== "PUT" || status >= 300) return;
      if (from === "stranger") violate("a stranger's report is refused", `${path} got ${status}`);
      else acknowledged.set(device, { task, window: Number(window), device });
    },
    before: async (database, process, statement) => {
      const { sql } = statement;
      if (sql.startsWith("INSERT INTO windows")) learnSecrets(database);
      if (sql.startsWith("INSERT INTO releases")) {
        activity.set(process.name, "releasing");
        await noteOutcome(database, process.name, statement);
      }
      if (sql.startsWith("UPDATE windows SET state")) await requireForward(database, statement);
      if (sql.startsWith("INSERT INTO tallies") || sql.startsWith("UPDATE tallies"))
        noteSeal(database, statement.values[3]);
    },
    after: (database, process, { sql, values }, rows) => {
      const window = `${database.name} ${values[0]}`;
      if (sql.startsWith("INSERT INTO windows"))
        windows.set(`${database.name} ${(rows[0] as { id: number } | undefined)?.id ?? values[0]}`, "collecting");
      else if (sql.startsWith("UPDATE windows SET state = 'closed'")) windows.set(window, "closed");
      else if (sql.startsWith("UPDATE windows SET state")) windows.set(window, "released");
      else if (sql.startsWith("UPDATE windows SET erased")) windows.set(window, "erased");
      else if (sql.includes("leased AS") && (rows[0] as { count: number }).count > 0)
        activity.set(process.name, "counting");
      else if (sql.includes("leased AS")) activity.delete(process.name);
    },
    ended: async (database, process, transaction, isCommitted) => {
      const key = keyOf(database, transaction);
      const noted = open.get(key) ?? [];
      open.delete(key);
      activity.delete(process.name);
      if (isCommitted) for (const outcome of noted) await conclude(outcome);
    },
    finish: async (databases, closedBefore) => {
      await finish({ violate, acknowledged, outcomes, isPair }, databases, closedBefore);
    },
  };
}

const ERASED_TABLES = ["reports", "uncounted", "devices", "spare_keys", "tallies", "shared_reports", "window_shards"];

async function finish(
  {
    violate,
    acknowledged,
    outcomes,
    isPair,
  }: {
    readonly violate: Oracle["violate"];
    readonly acknowledged: ReadonlyMap<string, Acknowledged>;
    readonly outcomes: ReadonlyMap<string, Outcome>;
    readonly isPair: boolean;
  },
  databases: readonly WatchedEngine[],
  closedBefore: number,
): Promise<void> {
  for (const { device, task, window } of acknowledged.values()) {
    // A device whose clock is ahead reports in a window that is still open.
    if (window >= closedBefore) continue;
    const outcome = outcomes.get(`${isPair ? "leader" : "one"} ${task}/${window}`);
    const isCounted = outcome?.reports.some((report) => encodeBase64url(report.device) === device);
    if (!isCounted)
      violate("an acknowledged report is counted", `${device} in ${task}/${window}, ${outcome?.status ?? "not ended"}`);
  }
  for (const { name, engine, keyFile } of databases) {
    const rows = await engine.query<{ id: number; number: number; state: string; erased: boolean }>(
      "SELECT id, number, state, erased FROM windows WHERE number < $1 ORDER BY id",
      [closedBefore],
    );
    for (const { number, state, erased } of rows) {
      if (!erased) violate("a window ends", `window ${number} is ${state} in the database ${name}, and not erased`);
    }
    for (const table of ERASED_TABLES) {
      const [row] = await engine.query<{ rows: number }>(
        `SELECT count(*)::int AS rows FROM ${table} JOIN windows ON windows.id = window_id WHERE number < $1`,
        [closedBefore],
      );
      if (row && row.rows > 0)
        violate("nothing outlives its window", `${row.rows} rows of ${table} in the database ${name}`);
    }
    const { windows } = JSON.parse(readFileSync(keyFile, "utf8")) as { windows: Record<string, string> };
    // A secret is on disk before its window is committed. If that is rolled back and never repeated, no key was ever
    // derived from it: it opens nothing.
    const made = new Set(rows.map(({ number }) => number));
    const left = Object.keys(windows).filter((each) => made.has(Number(each.split("/")[1])));
    if (left.length > 0) violate("no secret outlives its window", `${left.join(", ")} in ${keyFile.split("/").at(-1)}`);
  }
}
