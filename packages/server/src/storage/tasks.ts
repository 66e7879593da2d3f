import {
  layoutOf,
  type Manifest,
  manifestHash,
  parseManifest,
  reportBytes,
  type SignedManifest,
  type TaskLayout,
} from "@lethe/core/message";
import { createTurns } from "../in-turn.ts";
import type { Database } from "./database.ts";

/** One version of a task, as it runs. */
export interface TaskVersion {
  readonly id: number;
  readonly manifest: Manifest;
  readonly signed: SignedManifest;
  readonly hash: Uint8Array;
  readonly layout: TaskLayout;
  readonly reportBytes: number;
}

/** All tasks, in memory. They never change, and are few; new ones are found by `refresh`. */
export interface TaskRegistry {
  refresh(): Promise<void>;
  /** Names in order. */
  names(): readonly string[];
  /** Oldest first; none if there is no such task. */
  versions(name: string): readonly TaskVersion[];
  /** The version that a window runs under. */
  inWindow(name: string, window: number): TaskVersion | undefined;
}

interface Row {
  readonly id: number;
  readonly name: string;
  readonly manifest: string;
  readonly signature: Uint8Array;
}

export function createTaskRegistry(database: Database): TaskRegistry {
  const tasks = new Map<string, TaskVersion[]>();
  let newest = 0;
  const inTurn = createTurns();

  async function readNew(): Promise<void> {
    const rows = await database.query<Row>(
      "SELECT id, name, manifest, signature FROM tasks WHERE id > $1 ORDER BY name, version",
      [newest],
    );
    for (const { id, name, manifest: text, signature } of rows) {
      newest = Math.max(newest, id);
      const manifest = parseManifest(text);
      const layout = layoutOf(manifest);
      tasks.set(name, [
        ...(tasks.get(name) ?? []),
        {
          id,
          manifest,
          signed: { manifest: text, signature },
          hash: manifestHash(text),
          layout,
          reportBytes: reportBytes(layout),
        },
      ]);
    }
  }

  return {
    // Two at once would both add the same.
    refresh: () => inTurn(readNew),
    names: () => [...tasks.keys()].sort(),
    versions: (name) => tasks.get(name) ?? [],
    inWindow: (name, window) => tasks.get(name)?.findLast(({ manifest }) => manifest.fromWindow <= window),
  };
}
