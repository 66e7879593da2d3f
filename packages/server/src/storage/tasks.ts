import { setTimeout as sleep } from "node:timers/promises";
import {
  layoutOf,
  type Manifest,
  manifestHash,
  parseManifest,
  reportBytes,
  type SignedManifest,
  type Task,
  type TaskLayout,
} from "@lethe/core/message";
import { type TwoServerLayout, twoServerLayoutOf, twoServerReportBytes } from "@lethe/core/two-server";
import { createTurns } from "../async/in-turn.ts";
import type { Database, Queryable } from "./database.ts";

/** What every version of a task has, whether one server counts its reports or two. */
interface AnyTaskVersion {
  readonly id: number;
  readonly manifest: Manifest;
  readonly signed: SignedManifest;
  readonly hash: Uint8Array;
}

/** How the reports of a task are laid out. `mode` is the manifest's; only `protocol/` decides by it. */
export type ReportLayout =
  | { readonly mode: "one-server"; readonly layout: TaskLayout; readonly reportBytes: number }
  | { readonly mode: "two-server"; readonly layout: TwoServerLayout; readonly reportBytes: number };

/** One version of a task, as it runs. */
export type TaskVersion = AnyTaskVersion & ReportLayout;

/** A version of a task whose reports one server opens. */
export type OneServerTask = Extract<TaskVersion, { mode: "one-server" }>;

/** A version of a task whose reports a leader and a helper open together, one half each. */
export type TwoServerTask = Extract<TaskVersion, { mode: "two-server" }>;

/** All tasks, in memory. They never change, and are few; new ones are found by `refresh`. */
export interface TaskRegistry {
  refresh(): Promise<void>;
  /** Looks whether another process has made this task; undefined if the task is known. */
  lookFor(name: string): Promise<void> | undefined;
  /** Names in order. */
  names(): readonly string[];
  /** Oldest first; none if there is no such task. */
  versions(name: string): readonly TaskVersion[];
  byId(id: number): TaskVersion | undefined;
  /** The version that a window runs under. */
  inWindow(name: string, window: number): TaskVersion | undefined;
}

/** Requests for tasks that do not exist cost the database little: they wait, and share one query. */
const LOOKS_APART_MS = 100;

interface Row extends SignedManifest {
  readonly name: string;
}

/** Stores a task. Returns false if there is that version, or another one from that window on. */
export async function addTask(
  transaction: Queryable,
  task: {
    readonly name: string;
    readonly version: number;
    readonly fromWindow: number;
    readonly manifest: string;
    readonly signature: Uint8Array;
  },
): Promise<boolean> {
  const added = await transaction.query(
    `INSERT INTO tasks (name, version, from_window, manifest, signature) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT DO NOTHING RETURNING id`,
    [task.name, task.version, task.fromWindow, task.manifest, task.signature],
  );
  return added.length > 0;
}

/** Removes a version under which no window was ever opened, unless it has this very manifest. */
export async function removeUnusedTask(
  transaction: Queryable,
  name: string,
  version: number,
  manifest: string,
): Promise<void> {
  await transaction.query(
    `DELETE FROM tasks WHERE name = $1 AND version = $2 AND manifest <> $3
     AND NOT EXISTS (SELECT 1 FROM windows WHERE task_id = tasks.id)`,
    [name, version, manifest],
  );
}

/** The manifest of a version, as the database has it now. */
export async function findManifest(transaction: Queryable, name: string, version: number): Promise<string | undefined> {
  const [row] = await transaction.query<{ manifest: string }>(
    "SELECT manifest FROM tasks WHERE name = $1 AND version = $2",
    [name, version],
  );
  return row?.manifest;
}

/** The version that a window runs under, as the database has it now. */
export async function findVersionIn(transaction: Queryable, name: string, window: number): Promise<number | undefined> {
  const [row] = await transaction.query<{ id: number }>(
    "SELECT id FROM tasks WHERE name = $1 AND from_window <= $2 ORDER BY from_window DESC LIMIT 1",
    [name, window],
  );
  return row?.id;
}

/**
 * The tasks of this database. `requireSigned` throws if a manifest is not the operator's; a process without keys leaves
 * that check to the devices.
 */
export function createTaskRegistry(
  database: Database,
  requireSigned: (task: SignedManifest) => void = () => undefined,
): TaskRegistry {
  const tasks = new Map<string, TaskVersion[]>();
  const byId = new Map<number, TaskVersion>();
  const inTurn = createTurns();
  let lastLook = Number.NEGATIVE_INFINITY;
  let nextLook: Promise<void> | undefined;

  async function readNew(): Promise<void> {
    lastLook = performance.now();
    const ids = await database.query<{ id: number }>("SELECT id FROM tasks ORDER BY name, version");
    for (const { id } of ids) if (!byId.has(id)) await add(id);
    const there = new Set(ids.map(({ id }) => id));
    for (const [id, { manifest }] of byId) if (!there.has(id)) remove(id, manifest.task);
  }

  /** At a helper: the leader proposed this version again, with another manifest, before anything was done under it. */
  function remove(id: number, name: string): void {
    byId.delete(id);
    const left = (tasks.get(name) ?? []).filter((version) => version.id !== id);
    if (left.length > 0) tasks.set(name, left);
    else tasks.delete(name);
  }

  async function add(id: number): Promise<void> {
    const [row] = await database.query<Row>("SELECT name, manifest, signature FROM tasks WHERE id = $1", [id]);
    if (!row) return;
    requireSigned(row);
    const manifest = parseManifest(row.manifest);
    const version: TaskVersion = {
      id,
      manifest,
      signed: row,
      hash: manifestHash(row.manifest),
      ...reportLayoutOf(manifest),
    };
    byId.set(id, version);
    const versions = [...(tasks.get(row.name) ?? []), version];
    tasks.set(
      row.name,
      versions.sort((a, b) => a.manifest.version - b.manifest.version),
    );
  }

  /** A look that has not begun yet, so that it finds every task that was made before it was asked for. */
  function lookSoon(): Promise<void> {
    nextLook ??= sleep(Math.max(0, lastLook + LOOKS_APART_MS - performance.now())).then(() => {
      nextLook = undefined;
      return inTurn(readNew);
    });
    return nextLook;
  }

  return {
    // Two at once would add the same task twice.
    refresh: () => inTurn(readNew),
    lookFor: (name) => (tasks.has(name) ? undefined : lookSoon()),
    byId: (id) => byId.get(id),
    names: () => [...tasks.keys()].sort(),
    versions: (name) => tasks.get(name) ?? [],
    inWindow: (name, window) => tasks.get(name)?.findLast(({ manifest }) => manifest.fromWindow <= window),
  };
}

/** The layout of a task's reports, and their size, which is the same for all. */
export function reportLayoutOf(task: Task): ReportLayout {
  if (task.mode === "two-server") {
    const layout = twoServerLayoutOf(task);
    return { mode: "two-server", layout, reportBytes: twoServerReportBytes(layout) };
  }
  const layout = layoutOf(task);
  return { mode: "one-server", layout, reportBytes: reportBytes(layout) };
}

/** The part of a manifest that both operators agree on; the leader decides the rest. */
export function taskOf({ fromWindow, servers, ...task }: Manifest): Task {
  return task;
}
