import fs, { type PathLike } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename, dirname } from "node:path";
import { onTestFinished } from "vitest";

/**
 * What a program did to the disk, as far as a power failure tells it apart. A file is a number, because names come and
 * go; a folder is its path.
 */
export type Operation =
  | { readonly kind: "write"; readonly file: number; readonly bytes: Uint8Array }
  | { readonly kind: "name"; readonly folder: string; readonly changes: readonly (readonly [string, number | null])[] }
  | { readonly kind: "sync" | "failed sync"; readonly of: number | string }
  | { readonly kind: "mark"; readonly what: string };

/** What is recorded of everything that this process does below a folder. */
export interface RecordedDisk {
  readonly operations: readonly Operation[];
  /** Notes that the program has come this far. */
  mark(what: string): void;
  /** The operation after this many others fails with this code, and is not done. */
  failAt(skipped: number, code: string): void;
  /** The next file that is read as a whole fails with this code. */
  failRead(code: string): void;
}

type Sync = (...args: never[]) => unknown;
const NAMES = [
  "openSync",
  "closeSync",
  "writeFileSync",
  "fsyncSync",
  "renameSync",
  "linkSync",
  "rmSync",
  "readFileSync",
] as const;

/**
 * Wraps `node:fs` in this process, for the modules that were loaded before, too, until the test ends. `isRecorded`
 * chooses files by their names. The wrapped functions are those with which Lethe replaces its files (replace-file.ts);
 * a file is written as a whole and once, which this checks.
 */
export function recordDisk(folder: string, isRecorded: (name: string) => boolean): RecordedDisk {
  const operations: Operation[] = [];
  const real = Object.fromEntries(NAMES.map((name) => [name, fs[name]])) as Pick<typeof fs, (typeof NAMES)[number]>;
  const files = new Map<string, number>();
  const open = new Map<number, { readonly file?: number; readonly folder?: string }>();
  let next = 0;
  let unreadable: string | undefined;
  let failing: { left: number; readonly code: string } | undefined;

  const isOurs = (path: PathLike): path is string =>
    typeof path === "string" && path.startsWith(folder) && isRecorded(basename(path));
  /** What comes next is done, unless it is the one that fails. */
  const attempt = (syscall: string, act: () => void): void => {
    if (failing && failing.left-- === 0) {
      const { code } = failing;
      failing = undefined;
      throw Object.assign(new Error(`${code}: ${syscall}`), { code, syscall });
    }
    act();
  };
  const rename = (path: string, changes: readonly (readonly [string, number | null])[]): void => {
    operations.push({ kind: "name", folder: dirname(path), changes });
    for (const [name, file] of changes) {
      if (file === null) files.delete(name);
      else files.set(name, file);
    }
  };
  const create = (path: string): number => {
    const file = next++;
    rename(path, [[path, file]]);
    return file;
  };
  const wrapped: Record<(typeof NAMES)[number], Sync> = {
    openSync: (path: PathLike, flags: string, mode?: number) => {
      let descriptor = 0;
      const act = (): void => {
        descriptor = real.openSync(path, flags, mode);
      };
      if (path === folder) {
        act();
        open.set(descriptor, { folder });
      } else if (isOurs(path)) {
        attempt("open", act);
        if (flags !== "r" && flags !== "r+" && flags !== "wx") throw new Error(`opened with ${flags}`);
        open.set(descriptor, { file: files.get(path) ?? create(path) });
      } else act();
      return descriptor;
    },
    closeSync: (descriptor: number) => {
      open.delete(descriptor);
      real.closeSync(descriptor);
    },
    writeFileSync: (target: PathLike | number, data: string | Uint8Array, options?: never) => {
      const file = typeof target === "number" ? open.get(target)?.file : undefined;
      const act = (): void => real.writeFileSync(target, data, options);
      if (file === undefined) return act();
      attempt("write", act);
      operations.push({ kind: "write", file, bytes: new Uint8Array(Buffer.from(data as Uint8Array)) });
    },
    fsyncSync: (descriptor: number) => {
      const found = open.get(descriptor);
      const act = (): void => real.fsyncSync(descriptor);
      if (!found) return act();
      const of = found.folder ?? (found.file as number);
      try {
        attempt("fsync", act);
      } catch (error) {
        operations.push({ kind: "failed sync", of });
        throw error;
      }
      operations.push({ kind: "sync", of });
    },
    renameSync: (from: string, to: string) => {
      const act = (): void => real.renameSync(from, to);
      const file = files.get(from);
      if (file === undefined) return act();
      attempt("rename", act);
      rename(to, [
        [to, file],
        [from, null],
      ]);
    },
    linkSync: (from: string, to: string) => {
      const act = (): void => real.linkSync(from, to);
      const file = files.get(from);
      if (file === undefined) return act();
      attempt("link", act);
      rename(to, [[to, file]]);
    },
    readFileSync: (path: PathLike | number, options?: never) => {
      const code = unreadable;
      if (code === undefined || typeof path === "number" || !isOurs(path)) return real.readFileSync(path, options);
      unreadable = undefined;
      throw Object.assign(new Error(`${code}: read`), { code, syscall: "read" });
    },
    rmSync: (path: string, options?: never) => {
      const act = (): void => real.rmSync(path, options);
      if (!files.has(path)) return act();
      attempt("unlink", act);
      rename(path, [[path, null]]);
    },
  };
  Object.assign(fs, wrapped);
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fs, real);
    syncBuiltinESMExports();
  });
  return {
    operations,
    mark: (what) => void operations.push({ kind: "mark", what }),
    failAt: (skipped, code) => {
      failing = { left: skipped, code };
    },
    failRead: (code) => {
      unreadable = code;
    },
  };
}
