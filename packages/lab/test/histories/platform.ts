import nodeCrypto from "node:crypto";
import nodeFs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import nodeTimers from "node:timers/promises";
import { running, type SimulatedProcess, type World, waitedFor } from "./world.ts";

/**
 * Gives simulated processes their own platform: time, timers, randomness, files and `fetch` are the world's for code
 * that a simulated process runs, and Node's for everybody else. The code under test is not changed and does not know.
 * Node updates named imports of its modules when `syncBuiltinESMExports` is called, so that
 * `import { randomBytes } from "node:crypto"` gets these too.
 */
export function installPlatform(fetchIn: (world: World, process: SimulatedProcess) => typeof fetch): void {
  installTime();
  installTimers();
  installRandomness();
  installFiles();
  const realFetch = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    const at = running();
    return at ? fetchIn(at.world, at.process)(input, init) : realFetch(input, init);
  };
  syncBuiltinESMExports();
}

/** The folders of histories begin with this. */
export const FOLDER_PREFIX = "lethe-histories-";

/** What a planted bug changes of the platform; `{}` for none. */
interface Planted {
  /** Before a file takes the place of another. */
  readonly beforeReplacing?: (from: string, to: string) => void;
  /** The random bytes of this length are always the same. */
  readonly sameBytes?: number;
}

let planted: Planted = {};

/** Plants a bug in the platform, or removes it. */
export function plant(bug: Planted): void {
  planted = bug;
}

/** Replaces a function; the new one gets the process if one runs, otherwise the old one is called. */
function replace<T extends object, Name extends keyof T>(
  owner: T,
  name: Name,
  inProcess: (at: { readonly world: World; readonly process: SimulatedProcess }, ...args: unknown[]) => unknown,
): void {
  const real = owner[name] as (...args: unknown[]) => unknown;
  const value = function (this: unknown, ...args: unknown[]): unknown {
    const at = running();
    return at ? inProcess(at, ...args) : Reflect.apply(real, this, args);
  };
  Object.defineProperty(owner, name, { value, configurable: true, writable: true });
}

function installTime(): void {
  const RealDate = globalThis.Date;
  replace(RealDate, "now", ({ world }) => world.now());
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, newTarget) => {
      const at = args.length === 0 ? running() : undefined;
      return Reflect.construct(target, at ? [at.world.now()] : args, newTarget) as object;
    },
  });
  replace(globalThis.performance, "now", ({ world }) => world.now());
}

/** As Node's timers: an object, with the methods that programs use. */
class SimulatedTimer {
  cancel: () => void = () => undefined;
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
}

function installTimers(): void {
  type Act = (...args: unknown[]) => unknown;
  replace(globalThis, "setTimeout", ({ world, process }, act, delay, ...args) => {
    const timer = new SimulatedTimer();
    timer.cancel = world.later(delayOf(delay), process, () => (act as Act)(...args));
    return timer;
  });
  replace(globalThis, "setImmediate", ({ world, process }, act, ...args) => {
    const timer = new SimulatedTimer();
    timer.cancel = world.later(0, process, () => (act as Act)(...args));
    return timer;
  });
  replace(globalThis, "setInterval", ({ world, process }, act, delay, ...args) => {
    const timer = new SimulatedTimer();
    const again = (): void => {
      timer.cancel = world.later(delayOf(delay), process, () => {
        again();
        (act as Act)(...args);
      });
    };
    again();
    return timer;
  });
  for (const name of ["clearTimeout", "clearInterval", "clearImmediate"] as const) {
    const real = globalThis[name] as (timer: unknown) => void;
    const clear = (timer: unknown): void => (timer instanceof SimulatedTimer ? timer.cancel() : real(timer));
    Object.defineProperty(globalThis, name, { value: clear, configurable: true, writable: true });
  }
  replace(nodeTimers, "setTimeout", ({ world, process }, delay, value) => {
    return new Promise((resolve) => void world.later(delayOf(delay), process, () => resolve(value)));
  });
  replace(AbortSignal, "timeout", ({ world, process }, delay) => {
    const controller = new AbortController();
    world.later(delayOf(delay), process, () => controller.abort(new DOMException("timed out", "TimeoutError")));
    return controller.signal;
  });
}

const delayOf = (delay: unknown): number => Math.max(1, Number(delay) || 0);

function installRandomness(): void {
  const bytes = (process: SimulatedProcess, size: unknown): Buffer => {
    const made = Buffer.alloc(Number(size));
    if (size !== planted.sameBytes) process.draws.fill(made);
    return made;
  };
  replace(nodeCrypto, "randomBytes", ({ process }, size) => bytes(process, size));
  replace(nodeCrypto, "randomInt", ({ process }, least, limit) => {
    const [from, to] = limit === undefined ? [0, Number(least)] : [Number(least), Number(limit)];
    return from + process.draws.below(to - from);
  });
  const { crypto } = globalThis;
  replace(crypto, "getRandomValues", ({ process }, into) => {
    const { buffer, byteOffset, byteLength } = into as Uint8Array;
    process.draws.fill(new Uint8Array(buffer, byteOffset, byteLength));
    return into;
  });
  replace(Math, "random", ({ process }) => process.draws.below(2 ** 32) / 2 ** 32);
  // WebCrypto works in other threads: the event is over when its answer is there.
  for (const name of [
    "importKey",
    "verify",
    "sign",
    "deriveBits",
    "deriveKey",
    "encrypt",
    "decrypt",
    "exportKey",
    "digest",
  ] as const) {
    const real = crypto.subtle[name].bind(crypto.subtle) as (...args: unknown[]) => Promise<unknown>;
    Object.defineProperty(crypto.subtle, name, {
      value: (...args: unknown[]) => waitedFor(real(...args)),
      configurable: true,
    });
  }
}

/** Files are the machine's own, in a folder of the history; a process may be killed at any operation. */
function installFiles(): void {
  const names = [
    "openSync",
    "writeFileSync",
    "renameSync",
    "linkSync",
    "rmSync",
    "readFileSync",
    "existsSync",
  ] as const;
  for (const name of names) {
    const real = nodeFs[name] as (...args: unknown[]) => unknown;
    replace(nodeFs, name, ({ world, process }, ...args) => {
      // Node and packages read their own files, whenever they are used for the first time.
      if (typeof args[0] === "string" && !args[0].includes(FOLDER_PREFIX)) return real(...args);
      world.portSync(process);
      if (name === "renameSync") planted.beforeReplacing?.(String(args[0]), String(args[1]));
      return real(...args);
    });
  }
  // The machine does not lose power, so nothing depends on it here, but the disk would take milliseconds.
  replace(nodeFs, "fsyncSync", ({ world, process }) => world.portSync(process));
}
