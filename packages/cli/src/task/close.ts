import { closeWindow, fetchManifest, newestInGrace } from "@lethe/analyst";
import { beginningOf, type Manifest, type WindowStatus, windowAt } from "@lethe/core/message";
import { requireAdminToken } from "../options/admin-token.ts";
import { resultsCommand } from "../print/results-command.ts";
import { count } from "../print/table.ts";
import { utcAndLocal } from "../print/time.ts";
import { failure } from "../system/failure.ts";

/** `lethe task close`. */
export async function closeTaskWindow(
  task: string,
  window: number | undefined,
  { server, json }: { readonly server: string; readonly json?: boolean },
): Promise<void> {
  const token = requireAdminToken();
  const manifest = await fetchManifest(server, task);
  const chosen = window ?? (await newestInGrace(server, manifest)) ?? refuse(manifest);
  const status = await closeWindow(server, token, task, chosen);
  console.log(json ? JSON.stringify(status) : describe(status, resultsCommand(manifest, { window: chosen })));
}

function refuse(manifest: Manifest): never {
  const running = windowAt(manifest, Date.now() / 1000);
  const to = beginningOf(manifest, running + 1);
  throw failure(
    `no window of ${manifest.task} waits for late reports; window ${running} runs until ${utcAndLocal(to)}: name it to ` +
      "close it all the same",
  );
}

function describe({ task, window, state, received, minimumDevices }: WindowStatus, next: string): string {
  return `window ${window} of ${task} is ${state} with ${count(received)} reports, at least ${count(minimumDevices)} needed: ${next}`;
}
