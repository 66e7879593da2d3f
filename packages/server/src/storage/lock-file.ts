import { createHash, randomBytes } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

interface Owner {
  readonly pid: number;
  /** When the process began, where the system tells: numbers of dead processes are used again. */
  readonly started: string;
}

export interface Lock {
  release(): void;
}

/**
 * Takes a lock file; or, if a living process holds it, returns that process's number. The file appears with its content at
 * once (a link cannot replace a file), so nobody reads a half-written one. Who finds the owner dead claims the succession under a name
 * made from what the dead one wrote, which only one process gets, and looks once more before it puts its own lock in the place.
 */
export function takeLock(path: string): Lock | { readonly heldBy: number } {
  const own: Owner = { pid: process.pid, started: startOf(process.pid) ?? "" };
  const prepared = `${path}.${randomBytes(8).toString("hex")}`;
  writeFileSync(prepared, JSON.stringify({ ...own, nonce: randomBytes(8).toString("hex") }), { mode: 0o600 });
  try {
    for (;;) {
      if (tryLink(prepared, path)) return { release: () => rmSync(path, { force: true }) };
      const found = read(path);
      if (found === undefined) continue;
      const holder = livingOwner(found) ?? replaceDead(path, found, prepared);
      if (holder === "ours") return { release: () => rmSync(path, { force: true }) };
      if (holder !== undefined) return { heldBy: holder };
    }
  } finally {
    rmSync(prepared, { force: true });
  }
}

/**
 * Puts the prepared lock in the place of a dead one; or the number of a living process that is doing so. Undefined if things have
 * changed meanwhile: look again. A claim whose owner was killed while it took over is replaced in the same way.
 */
function replaceDead(path: string, dead: string, prepared: string): "ours" | number | undefined {
  const claim = `${path}.${createHash("sha256").update(dead).digest("hex").slice(0, 16)}`;
  if (!tryLink(prepared, claim)) {
    const text = read(claim);
    if (text === undefined) return undefined;
    const claimant = livingOwner(text) ?? replaceDead(claim, text, prepared);
    if (claimant !== "ours") return claimant;
  }
  try {
    if (read(path) !== dead) return undefined;
    const copy = `${prepared}.copy`;
    linkSync(prepared, copy);
    renameSync(copy, path);
    return "ours";
  } finally {
    rmSync(claim, { force: true });
  }
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** This very process may hold the lock, too: then another service in it does. */
function livingOwner(text: string): number | undefined {
  const owner = parseOwner(text);
  return owner && isAlive(owner) ? owner.pid : undefined;
}

function parseOwner(text: string): Owner | undefined {
  try {
    const { pid, started } = JSON.parse(text) as Partial<Owner>;
    const isOwner = Number.isSafeInteger(pid) && (pid as number) >= 1 && typeof started === "string";
    return isOwner ? { pid: pid as number, started } : undefined;
  } catch {
    return undefined;
  }
}

function isAlive({ pid, started }: Owner): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
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
