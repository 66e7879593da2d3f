import { fork } from "node:child_process";
import { once } from "node:events";
import type { ServiceOptions } from "@lethe/server";

/** A process of the service. */
export interface ServiceProcess {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Closes the service and waits for the end of its process. */
  close(): Promise<void>;
}

/** The admin token of every service that is measured. */
export const TOKEN = "a-token-for-the-bench";

const NO_LIMITS = { rate: { perSecond: 1e6, burst: 1e6 }, mostPerAddress: 1e6 };

/** What a measurement chooses. All of it can be sent to another process. */
export type ServiceProcessOptions = Pick<
  ServiceOptions,
  "role" | "data" | "databaseUrl" | "keyFile" | "peer" | "threads" | "keysAhead"
>;

/**
 * The service in another process, with no limits on enrolment, so that it does not share a processor with those who
 * load it.
 */
export async function startService(options: ServiceProcessOptions): Promise<ServiceProcess> {
  const child = fork(new URL("./service-process.js", import.meta.url), {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  child.send({ ...options, adminToken: TOKEN, enrolment: NO_LIMITS });
  const exited = once(child, "exit");
  const [url] = await Promise.race([once(child, "message") as Promise<[string]>, exited.then(failed)]);
  return {
    url,
    port: Number(new URL(url).port),
    pid: child.pid as number,
    close: async () => {
      child.disconnect();
      await exited;
    },
  };
}

function failed([code]: unknown[]): never {
  throw new Error(`the service ended with code ${code} before it listened`);
}
