/**
 * A process that runs targets. Its parent (`processes.ts`) sends which, and ends it when it is silent for too long: no
 * decoder that hangs stops the others.
 */

import { tryInput } from "./judge.ts";
import { groupOf, REGISTRY } from "./registry.ts";
import { type RunOptions, run } from "./run.ts";

/** What a parent asks for: the targets, a run, or one input that is tried again. */
export type Job =
  | { readonly target: string; readonly list: true }
  | ({ readonly target: string } & Omit<RunOptions, "onProgress">)
  | { readonly target: string; readonly input: string };

const PROGRESS_MS = 1000;

async function answer(job: Job): Promise<unknown> {
  const group = await groupOf(job.target);
  if ("list" in job) return { targets: group.map(({ name, covers, inCi }) => ({ name, covers, inCi })) };
  const target = group.find(({ name }) => name === job.target);
  if (!target) throw new TypeError(`there is no target ${job.target}: ${REGISTRY.flatMap(({ names }) => names)}`);
  if ("input" in job) return { outcome: await tryInput(target, new Uint8Array(Buffer.from(job.input, "base64url"))) };
  let said = performance.now();
  const onProgress = (at: number): void => {
    if (performance.now() - said < PROGRESS_MS) return;
    said = performance.now();
    process.send?.({ at });
  };
  return { result: await run(target, { ...job, onProgress }) };
}

process.on("message", (job: Job) => {
  answer(job).then(
    (message) => process.send?.(message as object),
    (error: Error) => process.send?.({ failed: error.stack ?? String(error) }),
  );
});
process.on("disconnect", () => process.exit());
