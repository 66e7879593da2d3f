import type { Logger } from "pino";
import type { Admin } from "../http/admin-routes.ts";
import type { ApiParts } from "../http/api.ts";
import type { Intake } from "../intake/intake.ts";
import { closeWindow, type WindowIdentity } from "../storage/windows.ts";
import { forwardTask } from "../tasks/forward-task.ts";
import type { Address } from "./address.ts";

/** What all parts of a process share. */
export interface Common extends ApiParts {
  readonly log: Logger;
}

/** What the admin can ask of a process without keys: a process with keys signs the tasks. */
export function remoteAdmin(
  common: Common,
  adminToken: string,
  intake: Intake | undefined,
  address: Readonly<Address>,
): Admin {
  return {
    createTask: (task) => forwardTask({ ...common, now: common.clock.now }, adminToken, address, task),
    close: (window) => closeEarly(common, intake, window),
  };
}

/** Closes a window before its time, because the admin asked. */
export async function closeEarly(
  { databases, log }: Pick<Common, "databases" | "log">,
  intake: Intake | undefined,
  window: WindowIdentity,
): Promise<void> {
  const { id, name, number } = window;
  await intake?.flush();
  // A tally closes it in the other databases, too, because it is closed in the first.
  if (await closeWindow(databases.first, id)) log.info({ task: name, window: number }, "closed manually");
}
