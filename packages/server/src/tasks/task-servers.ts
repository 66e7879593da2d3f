import { LetheError } from "@lethe/core/error";
import type { Manifest, SignedManifest, Task } from "@lethe/core/message";
import type { Helper } from "../leader/client.ts";

/**
 * The servers that count the tasks of a service: itself, or itself and a helper. A service makes tasks of one mode
 * only.
 */
export interface TaskServers {
  readonly mode: Task["mode"];
  /** Why a task of another mode is refused. */
  readonly wrongMode: string;
  /** The servers as a manifest names them, with the url and the operator key of this service. */
  named(url: string, operatorKey: string): Manifest["servers"];
  /** Offers a signed task to the other server, if there is one; throws `bad-task` if that refuses. */
  propose(task: Task, signed: SignedManifest): Promise<void>;
}

/** Throws unless a task has the mode of this service. */
export function requireMode(task: Task, mode: Task["mode"], otherwise: string): void {
  if (task.mode !== mode) throw new LetheError("bad-task", otherwise);
}

/** A service that counts alone. */
export const ONE_SERVER: TaskServers = {
  mode: "one-server",
  wrongMode: "mode is one-server for this service: a task of two servers needs one with --role leader, and a helper",
  named: (url, key) => [{ role: "tally", url, key }],
  propose: async () => undefined,
};

/** A leader, and its helper. */
export function twoServers(helper: Helper & { readonly url: string; readonly operatorKey: string }): TaskServers {
  return {
    mode: "two-server",
    wrongMode: "mode is two-server for a leader: start another service for tasks of one server",
    named: (url, key) => [
      { role: "leader", url, key },
      { role: "helper", url: helper.url, key: helper.operatorKey },
    ],
    propose: async ({ task, version }, signed) => {
      try {
        await helper.propose(signed, task, version);
      } catch (error) {
        if (!(error instanceof LetheError)) throw error;
        throw new LetheError("bad-task", `the helper refuses it (${error.code}): ${error.message}`, { cause: error });
      }
    },
  };
}
