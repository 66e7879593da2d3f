import { LetheError } from "@lethe/core/error";
import type { OtherServer } from "../between/other-server.ts";
import type { TaskRegistry } from "../storage/tasks.ts";

/**
 * Throws if a task of this leader names another helper than the given one: devices already have keys of that helper.
 */
export function requireSameHelper(tasks: TaskRegistry, { operatorKey }: OtherServer): void {
  for (const { manifest } of tasks.names().flatMap(tasks.versions)) {
    const named = manifest.servers[1]?.key;
    if (named === undefined || named === operatorKey) continue;
    throw new LetheError(
      "task-differs",
      `task ${manifest.task} names the helper key ${named}, and --peer-key says ${operatorKey}: is that the helper's, as ` +
        "lethe key prints it there? Another helper needs another leader, with its own database",
    );
  }
}
