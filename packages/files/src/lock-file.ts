import { createHash, randomBytes } from "node:crypto";
import { linkSync, readFileSync, readlinkSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";

/** In milliseconds. An owner in another container shows that it lives by touching its lock. */
const TOUCH_EVERY = 5_000;
const STALE_AFTER = 30_000;

/** Process flags and signals in /proc/pid/stat: the kernel's PF_EXITING, and SIGKILL among the pending signals. */
const EXITING = 1 << 2;
const KILLED = 1 << 8;

interface Owner {
  readonly pid: number;
  /** When the process began, where the system reports that: the numbers of dead processes are used again. */
  readonly started: string;
  /** Each container numbers its processes from 1; undefined in locks of earlier versions. */
  readonly namespace?: string | undefined;
}

/** A lock that this process holds until it releases it or ends. */
export interface Lock {
  /** Lets another process take it. Does nothing if it was released before, or is another's by now. */
  release(): void;
}

/** Why a lock cannot be taken. */
export interface HeldLock {
  /** The owner, in words: `process 12`. */
  readonly heldBy: string;
  /** Set if the owner was killed or exits: it may still complete a write, and the lock is free once it has ended. */
  readonly isEnding?: true;
}

/**
 * Takes a lock file; or, if a living process holds it, names that process. The file appears together with its content
 * (a link cannot replace a file), so nobody reads a half-written one. A process that finds the owner dead claims the
 * succession under a name made from the dead one's content, which only one process gets, and looks once more before it
 * replaces the lock with its own. Containers that share a volume exclude one another, unless the owner stands still for
 * 30 s; machines that share a volume do not.
 */
export function takeLock(path: string): Lock | HeldLock {
  const own: Owner = { pid: process.pid, started: statOf(process.pid)?.started ?? "", namespace: ownNamespace() };
  const content = JSON.stringify({ ...own, nonce: randomBytes(8).toString("hex") });
  const prepared = `${path}.${randomBytes(8).toString("hex")}`;
  try {
    writeFileSync(prepared, content, { mode: 0o600 });
    for (;;) {
      if (tryLink(prepared, path)) return hold(path, content);
      const found = read(path);
      if (found === undefined) continue;
      const holder = livingOwner(path, found) ?? replaceDead(path, found, prepared);
      if (holder === OURS) return hold(path, content);
      if (holder !== undefined) return holder;
    }
  } finally {
    rmSync(prepared, { force: true });
  }
}

/** Keeps a lock fresh until it is released, or another process has it after all. */
function hold(path: string, content: string): Lock {
  const touching = setInterval(() => {
    try {
      if (read(path) !== content) return clearInterval(touching);
      const now = new Date();
      utimesSync(path, now, now);
    } catch {
      // The next time may do.
    }
  }, TOUCH_EVERY).unref();
  return {
    release: () => {
      clearInterval(touching);
      if (read(path) === content) rmSync(path, { force: true });
    },
  };
}

const OURS = Symbol("ours");

/**
 * Replaces a dead lock with the prepared one; or returns which living process is doing so. Undefined if things have
 * changed meanwhile: look again. A claim whose owner was killed while it took over is replaced in the same way.
 */
function replaceDead(path: string, dead: string, prepared: string): typeof OURS | HeldLock | undefined {
  const claim = `${path}.${createHash("sha256").update(dead).digest("hex").slice(0, 16)}`;
  if (!tryLink(prepared, claim)) {
    const text = read(claim);
    if (text === undefined) return undefined;
    const claimant = livingOwner(claim, text) ?? replaceDead(claim, text, prepared);
    if (claimant !== OURS) return claimant;
  }
  try {
    if (read(path) !== dead) return undefined;
    const copy = `${prepared}.copy`;
    linkSync(prepared, copy);
    renameSync(copy, path);
    return OURS;
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

/** This very process may hold the lock, too: then another part of it does. */
function livingOwner(path: string, text: string): HeldLock | undefined {
  const owner = parseOwner(text);
  if (owner === undefined) return undefined;
  if (owner.namespace === undefined || owner.namespace === ownNamespace()) {
    const life = lifeOf(owner);
    if (life === "ended") return undefined;
    return { heldBy: `process ${owner.pid}`, ...(life === "ending" && { isEnding: true }) };
  }
  if (!isFresh(path)) return undefined;
  return { heldBy: `process ${owner.pid} of another container, alive within the last 30 s` };
}

function parseOwner(text: string): Owner | undefined {
  try {
    const { pid, started, namespace } = JSON.parse(text) as Partial<Owner>;
    const isOwner = Number.isSafeInteger(pid) && (pid as number) >= 1 && typeof started === "string";
    const isNamespace = namespace === undefined || typeof namespace === "string";
    return isOwner && isNamespace ? { pid: pid as number, started, namespace } : undefined;
  } catch {
    return undefined;
  }
}

type Life = "running" | "ending" | "ended";

function lifeOf({ pid, started }: Owner): Life {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return "ended";
  }
  const now = statOf(pid);
  if (now === undefined) return "running";
  return started === "" || now.started === started ? now.life : "ended";
}

function isFresh(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && Date.now() - found.mtimeMs < STALE_AFTER;
}

/** Where process numbers count: `pid:[4026531836]`, or nothing where the system has no such thing. */
function ownNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

/**
 * What /proc/pid/stat says, after the name in parentheses, which may hold spaces: when the process began (field 22),
 * and whether it still runs. A process that has ended stays as a zombie (state Z or X, field 3) until its parent
 * notices. While other threads of it are still ending (field 20 counts all), one of them may still write. A process
 * that was killed has the signal pending (field 31) until the kernel gets to it, and is then exiting (flags, field 9):
 * on a busy machine each may take seconds.
 */
function statOf(pid: number): { readonly started: string; readonly life: Life } | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    const field = (number: number): string => fields[number - 3] ?? "";
    const started = field(22);
    if (started === "") return undefined;
    const isZombie = /^[ZX]$/.test(field(3));
    if (isZombie && Number(field(20)) <= 1) return { started, life: "ended" };
    const isEnding = isZombie || (Number(field(9)) & EXITING) !== 0 || (Number(field(31)) & KILLED) !== 0;
    return { started, life: isEnding ? "ending" : "running" };
  } catch {
    return undefined;
  }
}
