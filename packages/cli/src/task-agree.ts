import type { Task } from "@lethe/core/message";
import { requireAdminToken } from "./admin-token.ts";
import { ask } from "./service-client.ts";
import { describeTask } from "./task-check.ts";
import { readTask } from "./task-file.ts";

/** A helper counts what its own operator has read and agreed to, and nothing else that its leader makes. */
export async function agreeToTask(
  file: string,
  { server, json }: { readonly server: string; readonly json?: boolean },
): Promise<void> {
  const task = readTask(file);
  const token = requireAdminToken();
  const absent = "is not a helper: give the address of one that runs with --role helper, with --server";
  const request = { method: "POST", token, body: JSON.stringify(task), absent } as const;
  await ask(server, "/v1/agreements", request);
  console.log(json ? JSON.stringify({ agreed: true, task: task.task, version: task.version }) : describe(task, file));
}

function describe(task: Task, file: string): string {
  return [
    describeTask(task, "agreed to, exactly as it is in this file"),
    "",
    `What it costs a device, and how wrong results will be: lethe plan --task ${file}`,
    `Next, by the leader's operator: lethe task create ${file}`,
  ].join("\n");
}
