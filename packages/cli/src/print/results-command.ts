import type { Manifest } from "@lethe/core/message";
import { DEFAULT_SERVER } from "../options/options.ts";

/**
 * The command that prints the results of a task; with `window`, the results of that window as soon as it is finished.
 */
export function resultsCommand(
  { task, mode, servers: [leader, helper] }: Pick<Manifest, "task" | "mode" | "servers">,
  { window, server = DEFAULT_SERVER }: { readonly window?: number; readonly server?: string } = {},
): string {
  const waiting = window === undefined ? "" : ` --window ${window} --wait`;
  if (mode === "two-server") {
    // The analyst must get the keys from the operators: keys from the server that they authenticate prove nothing.
    const pinned = "--leader-key ed25519:… --helper-key ed25519:…";
    return `npx lethe collect --leader ${leader?.url} --helper ${helper?.url} --task ${task} ${pinned}${waiting}`;
  }
  return `npx lethe results ${task}${waiting}${server === DEFAULT_SERVER ? "" : ` --server ${server}`}`;
}
