import { fork } from "node:child_process";
import { once } from "node:events";

/** A process of `bare-intake.ts`. */
export interface BareIntake {
  readonly port: number;
  /** Ends the process. */
  close(): Promise<void>;
}

/** Starts the least that stores reports; `where` is the address of a PostgreSQL server, or a folder for PGlite. */
export async function startBare(where: string): Promise<BareIntake> {
  const child = fork(new URL("./bare-intake.js", import.meta.url), [where]);
  const [port] = (await once(child, "message")) as [number];
  const exited = once(child, "exit");
  return {
    port,
    close: async () => {
      child.disconnect();
      await exited;
    },
  };
}
