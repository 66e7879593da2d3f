/**
 * Reads manifests. Reading one checks that its task can run, and so needs all statistics with their encryption; web
 * pages that only show releases do not load this file.
 */
import { type Manifest, parseManifest, parseSignedManifest, type SignedManifest } from "@lethe/core/message";
import { ask } from "./request.ts";
import { taskPath } from "./service.ts";

/**
 * The manifest of a task, as the service sends it. The signature is not checked: the caller has no key to check it
 * with.
 */
export async function fetchManifest(server: string, task: string): Promise<Manifest> {
  return readManifest((await ask(server, taskPath(task))).body);
}

/** The manifest that is in force in a window. The signature is not checked yet. */
export async function fetchSignedManifest(server: string, task: string, window: number): Promise<SignedManifest> {
  return parseSignedManifest((await ask(server, `${taskPath(task)}?window=${window}`)).body);
}

/** Reads a signed manifest without checking its signature. */
export function readManifest(signed: string): Manifest {
  return parseManifest(parseSignedManifest(signed).manifest);
}
