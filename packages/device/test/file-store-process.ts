import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** A separate process that runs a module which sees `fileStore`, as it was built. */
export interface StoreProcess {
  readonly child: ChildProcess;
  /** The next line that it prints; undefined if it ended. */
  line(): Promise<string | undefined>;
  /** With which code it ended; null if it was killed. */
  readonly ended: Promise<number | null>;
  /** `kill -9`; resolves when it is dead. */
  kill(): Promise<void>;
}

const MODULE = new URL("../dist/node/index.js", import.meta.url).href;

/** The program finds the folder in `folder`; `inside` is a command that runs it. */
export function startStoreProcess(folder: string, program: string, ...inside: string[]): StoreProcess {
  const text = `import { fileStore } from ${JSON.stringify(MODULE)};
    const folder = ${JSON.stringify(folder)};
    ${program}`;
  const [command = "", ...args] = [...inside, process.execPath, "--input-type=module", "--eval", text];
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    child,
    ended,
    line: async () => {
      const { done, value } = await lines.next();
      return done ? undefined : value;
    },
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** For a program: takes the lock and says so. */
export const TAKE_LOCK = `
  const store = fileStore(folder);
  const release = await store.lock(new AbortController().signal);
  console.log("taken");`;
