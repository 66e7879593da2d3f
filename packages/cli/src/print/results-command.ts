import type { Manifest } from "@lethe/core/message";
import { DEFAULT_SERVER } from "../options/options.ts";

/** With which command to see what a task's devices told; of a window, once it is done. */
export function resultsCommand(
  { task, mode, servers: [leader, helper] }: Pick<Manifest, "task" | "mode" | "servers">,
  { window, server = DEFAULT_SERVER }: { readonly window?: number; readonly server?: string } = {},
): string {
  const waiting = window === undefined ? "" : ` --window ${window} --wait`;
  if (mode === "two-server") {
    // Whoever asks has them from the operators: from this very server they would prove nothing.
    const pinned = "--leader-key ed25519:… --helper-key ed25519:…";
    return `npx lethe collect --leader ${leader?.url} --helper ${helper?.url} --task ${task} ${pinned}${waiting}`;
  }
  return `npx lethe results ${task}${waiting}${server === DEFAULT_SERVER ? "" : ` --server ${server}`}`;
}
