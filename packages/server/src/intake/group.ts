import { LetheError } from "@lethe/core/error";
import type { Task } from "@lethe/core/message";

/** Asking again does not help. The next version of the task may have the group, but begins in hours or days. */
const RETRY_SECONDS = 86_400;

/**
 * The place of a device's group among those of its task, 0 if the task has none: a group that the device states then
 * means nothing, so that applications can state one before the task has groups. A device that states no group of its
 * task is refused, with a long `retryAfter`.
 */
export function groupNumberOf({ groups }: Pick<Task, "groups">, stated: string | undefined): number {
  const number = groups?.indexOf(stated ?? "") ?? 0;
  if (number >= 0) return number;
  const which = stated === undefined ? "this task has groups" : "this task has no such group";
  throw Object.assign(
    new LetheError("bad-encoding", `${which}: pass one of them to openLethe as group: ${groups?.join(", ")}`),
    { retryAfter: RETRY_SECONDS },
  );
}
