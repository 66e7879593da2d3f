import { LetheError } from "@lethe/core/error";
import { JOBS, type Jobs } from "./jobs.ts";

/** What the page sends. */
export interface Job {
  readonly id: number;
  readonly name: keyof Jobs;
  readonly input: unknown;
}

/** What the worker answers. */
export type Done = { readonly id: number } & (
  | { readonly output: unknown }
  | { readonly failed: { readonly code: LetheError["code"]; readonly message: string } }
);

const work = JOBS as unknown as Readonly<Record<string, (input: unknown) => unknown>>;

addEventListener("message", async ({ data: { id, name, input } }: MessageEvent<Job>) => {
  try {
    const output = await work[name]?.(input);
    postMessage({ id, output } satisfies Done);
  } catch (error) {
    const code = error instanceof LetheError ? error.code : "service-failed";
    const message = error instanceof Error ? error.message : String(error);
    postMessage({ id, failed: { code, message } } satisfies Done);
  }
});
