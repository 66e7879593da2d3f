import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";

interface Owner {
  readonly pid: number;
  /** When the process began, where the system tells: numbers of dead processes are used again. */
  readonly started: string;
}

/**
 * Takes a lock file and returns how to let it go; or, if a living process holds it, returns that process's number. The
 * file appears with its content at once (a link cannot replace a file), so nobody reads a half-written one. A lock whose owner is dead is
 * moved away first; if two processes find it at once, one of them may find that it has moved the other's new lock, and puts it back.
 */
export function takeLock(path: string): { release(): void } | { heldBy: number } {
  const own: Owner = { pid: process.pid, started: startOf(process.pid) ?? "" };
  const prepared = `${path}.${randomBytes(8).toString("hex")}`;
  writeFileSync(prepared, JSON.stringify(own), { mode: 0o600 });
  try {
    for (;;) {
      if (tryLink(prepared, path)) return { release: () => unlinkSync(path) };
      const owner = readOwner(path);
      if (owner && isAlive(owner)) return { heldBy: owner.pid };
      const moved = `${prepared}.stale`;
      if (!tryRename(path, moved)) continue;
      const found = readOwner(moved);
      if (found && isAlive(found)) tryLink(moved, path);
      unlinkSync(moved);
    }
  } finally {
    unlinkSync(prepared);
  }
}

function tryLink(from: string, to: string): boolean {
  return succeeds(() => linkSync(from, to), "EEXIST");
}

function tryRename(from: string, to: string): boolean {
  return succeeds(() => renameSync(from, to), "ENOENT");
}

function succeeds(action: () => void, expected: string): boolean {
  try {
    action();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === expected) return false;
    throw error;
  }
}

/** Undefined if there is none that could be alive. */
function readOwner(path: string): Owner | undefined {
  try {
    const { pid, started } = JSON.parse(readFileSync(path, "utf8")) as Partial<Owner>;
    return Number.isInteger(pid) && typeof started === "string" ? { pid: pid as number, started } : undefined;
  } catch {
    return undefined;
  }
}

/** This very process may hold the lock, too: then another service in it does. */
function isAlive({ pid, started }: Owner): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  const now = startOf(pid);
  return now === undefined || started === "" || now === started;
}

/** Field 22 of /proc/pid/stat, behind the name in parentheses, which may hold spaces. */
function startOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[19];
  } catch {
    return undefined;
  }
}
