import type { Store } from "@lethe/device";
import type { SimulatedProcess, World } from "./world.ts";

/** What somebody who watches the medium sees of a write: its time and its size. */
export type OnWrite = (size: number, isDurable: boolean) => void;

/**
 * What a device keeps, for the programs that share it. Like a file store, it has one writer at a time. Unlike a disk, it
 * can lose power: then every write since the last durable one is there or not.
 */
export interface DeviceStore {
  /** The store as a program sees it. */
  handle(process: SimulatedProcess): Store;
  /** Everything that was not written durably may be lost. The programs must have been killed. */
  losePower(): void;
  /** What a thief of the medium reads. */
  readonly record: () => Uint8Array | undefined;
}

interface Program {
  readonly process: SimulatedProcess;
  readonly withdrawn: (() => Promise<void> | undefined) | undefined;
}

/** `forgetful` is a planted bug: durable writes are not. */
export function createDeviceStore(world: World, name: string, onWrite: OnWrite, forgetful: boolean): DeviceStore {
  let record: Uint8Array | undefined;
  /** What a loss of power may leave: the last durable record first. */
  let kept: (Uint8Array | undefined)[] = [undefined];
  let spent: Uint8Array | undefined;
  let writes = 0;
  let holder: Program | undefined;
  let waiting: { readonly program: Program; readonly grant: () => void }[] = [];

  const write = (bytes: Uint8Array | undefined, isDurable: boolean): void => {
    record = bytes;
    kept = isDurable && !forgetful ? [bytes] : [...kept, bytes];
  };

  function release(program: Program): void {
    if (holder !== program) return;
    holder = undefined;
    waiting.shift()?.grant();
  }

  function lockFor(program: Program, signal: AbortSignal): Promise<(() => Promise<void>) | undefined> {
    const { process } = program;
    return new Promise((resolve) => {
      const grant = (): void => {
        holder = program;
        process.onDeath.push(() => release(program));
        world.later(1, process, () => resolve(async () => release(program)));
      };
      const entry = { program, grant };
      const leave = (): void => {
        waiting = waiting.filter((other) => other !== entry);
        resolve(undefined);
      };
      process.onDeath.push(() => {
        waiting = waiting.filter((other) => other !== entry);
      });
      signal.addEventListener("abort", leave);
      if (signal.aborted) leave();
      else if (holder) waiting.push(entry);
      else grant();
    });
  }

  return {
    record: () => record,
    losePower: () => {
      record = world.draws("power", name, writes).pick(kept);
      kept = [record];
    },
    handle: (process) => ({
      lock: (signal, withdrawn) => lockFor({ process, withdrawn }, signal),
      load: async () => {
        await world.port(process);
        return record?.slice();
      },
      save: async (bytes, { durable }) => {
        const copy = bytes.slice();
        onWrite(copy.length, durable);
        writes++;
        await world.port(process);
        await new Promise<void>((resolve) => {
          const draws = world.draws("medium", name, writes);
          let isDone = false;
          const finish = (isWritten: boolean): void => {
            if (isDone) return;
            isDone = true;
            if (isWritten) write(copy, durable);
            world.later(1, process, resolve);
          };
          world.later(1 + draws.below(5), undefined, () => finish(true));
          // What a program that is killed has begun is there or not before another one has the lock.
          process.onDeath.unshift(() => finish(draws.chance(0.5)));
        });
        await world.port(process);
      },
      wipe: async () => {
        await world.port(process);
        const others = [...(holder ? [holder] : []), ...waiting.map(({ program }) => program)];
        await Promise.all(others.map((program) => ended(world, program)));
        await world.port(process);
        write(undefined, true);
      },
      budget: async (change) => {
        await world.port(process);
        spent = change(spent?.slice())?.slice() ?? spent;
      },
      close: async () => undefined,
    }),
  };
}

/** Resolves when a program has noticed that consent is withdrawn, and has ended its session, or is dead. */
function ended(world: World, { process, withdrawn }: Program): Promise<void> {
  return new Promise((resolve) => {
    process.onDeath.push(resolve);
    world.later(1, process, () => void Promise.resolve(withdrawn?.()).then(resolve));
  });
}
