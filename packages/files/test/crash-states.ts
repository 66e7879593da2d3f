import type { Operation } from "./recorded-disk.ts";

/** What a disk has after a power failure: contents by path. */
export type CrashState = ReadonlyMap<string, Uint8Array>;

type NameChange = Extract<Operation, { kind: "name" }>;

/** More subsets than this are not enumerated. */
const MOST_PENDING = 12;

/**
 * Every state that a power failure may leave after these operations, each once. The model is POSIX's, which allows more
 * than any file system does: what is written to a file is there for certain once the file is synced, and a name once
 * its folder is. Before that, each change may be lost without the others, and for good if a sync failed; of a file that
 * is not synced, all bytes, half of them or none are there. Changes of one name keep their order.
 */
function crashStates(operations: readonly Operation[]): CrashState[] {
  const done = doneBy(operations);
  const names = [...operations.entries()].filter(([, { kind }]) => kind === "name") as [number, NameChange][];
  const pending = names.map(([i]) => i).filter((i) => !done.has(i));
  if (pending.length > MOST_PENDING) throw new RangeError(`${pending.length} changes of names are not synced`);
  const found = new Map<string, CrashState>();
  for (let subset = 0; subset < 2 ** pending.length; subset++) {
    const lost = new Set(pending.filter((_, bit) => (subset & (1 << bit)) === 0));
    const files = namesAfter(names.flatMap(([i, change]) => (lost.has(i) ? [] : [change])));
    for (const state of contentsOf(files, operations, done)) {
      found.set(JSON.stringify([...state].map(([path, bytes]) => [path, Buffer.from(bytes).toString("hex")])), state);
    }
  }
  return [...found.values()];
}

/**
 * The places of the changes that the disk has. After a sync that failed, the kernel takes what was waiting for written:
 * no later sync writes it.
 */
function doneBy(operations: readonly Operation[]): Set<number> {
  const done = new Set<number>();
  const waiting = new Map<number | string, number[]>();
  for (const [i, operation] of operations.entries()) {
    if (operation.kind === "write") waiting.set(operation.file, [...(waiting.get(operation.file) ?? []), i]);
    if (operation.kind === "name") waiting.set(operation.folder, [...(waiting.get(operation.folder) ?? []), i]);
    if (operation.kind === "sync") for (const each of waiting.get(operation.of) ?? []) done.add(each);
    if (operation.kind === "sync" || operation.kind === "failed sync") waiting.delete(operation.of);
  }
  return done;
}

function namesAfter(changes: readonly NameChange[]): Map<string, number> {
  const files = new Map<string, number>();
  for (const [path, file] of changes.flatMap((change) => change.changes)) {
    if (file === null) files.delete(path);
    else files.set(path, file);
  }
  return files;
}

/** With what of their bytes the files may have: each is written once, and perhaps overwritten once. */
function contentsOf(
  files: ReadonlyMap<string, number>,
  operations: readonly Operation[],
  done: ReadonlySet<number>,
): CrashState[] {
  let states: CrashState[] = [new Map()];
  for (const [path, file] of [...files].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    let contents: Uint8Array[] = [new Uint8Array()];
    for (const [i, operation] of operations.entries()) {
      if (operation.kind !== "write" || operation.file !== file) continue;
      const { bytes } = operation;
      const half = bytes.slice(0, bytes.length / 2);
      contents = done.has(i) ? [bytes] : [...contents, bytes, half];
    }
    states = states.flatMap((state) => contents.map((content) => new Map([...state, [path, content]])));
  }
  return states;
}

/** The states after each of the operations, with what had been marked by then. */
export function* everyCrash(
  operations: readonly Operation[],
): Generator<{ readonly marks: readonly string[]; readonly state: CrashState }> {
  for (let end = 0; end <= operations.length; end++) {
    const before = operations.slice(0, end);
    const marks = before.flatMap((operation) => (operation.kind === "mark" ? [operation.what] : []));
    for (const state of crashStates(before)) yield { marks, state };
  }
}

/** As if a program had left out the syncs of its files, or of its folders: what a test finds must then change. */
export function withoutSyncs(operations: readonly Operation[], of: "files" | "folders"): Operation[] {
  const kind = of === "files" ? "number" : "string";
  return operations.filter((operation) => operation.kind !== "sync" || typeof operation.of !== kind);
}
