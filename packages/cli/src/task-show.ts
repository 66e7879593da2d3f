import type { Manifest, WindowStatus } from "@lethe/core/message";
import { requireAdminToken } from "./admin-token.ts";
import { resultsCommand } from "./results-command.ts";
import { askJson, fetchManifest } from "./service-client.ts";
import { count, formatTable } from "./table.ts";
import { describeTask } from "./task-check.ts";
import { inWords, utc } from "./time.ts";
import { findStatus, oldestInGrace, runningWindow } from "./window.ts";

interface Options {
  readonly server: string;
  readonly json?: boolean;
}

interface TaskSummary {
  readonly task: string;
  readonly windowSeconds: number;
  /** The running one. */
  readonly window: number;
  readonly versions: readonly { readonly version: number; readonly fromWindow: number; readonly metrics: number }[];
}

export async function listTasks({ server, json }: Options): Promise<void> {
  const token = requireAdminToken();
  const { tasks } = await askJson<{ tasks: readonly TaskSummary[] }>(server, "/v1/tasks", { token });
  if (json) console.log(JSON.stringify({ tasks }));
  else if (tasks.length === 0) console.log("no tasks yet: lethe task create task.json");
  else {
    const rows = tasks.flatMap(({ task, windowSeconds, window, versions }) =>
      versions.map(({ version, fromWindow, metrics }) => [
        task,
        `${version}`,
        `${metrics}`,
        inWords(windowSeconds),
        `${fromWindow}`,
        `${window}`,
      ]),
    );
    console.log(formatTable(["task", "version", "metrics", "window of", "from window", "running window"], rows, 1));
  }
}

export async function showTask(task: string, { server, json }: Options): Promise<void> {
  const manifest = await fetchManifest(server, task);
  const windows = await openWindows(server, manifest);
  console.log(json ? JSON.stringify({ manifest, windows }) : describe(manifest, windows));
}

const MOST_WINDOWS = 5;

/** The next window, the running one, and those before it that take reports; newest first. */
async function openWindows(server: string, manifest: Manifest): Promise<WindowStatus[]> {
  const next = runningWindow(manifest) + 1;
  const length = Math.min(next - oldestInGrace(manifest) + 1, MOST_WINDOWS);
  const found = await Promise.all(
    Array.from({ length }, (_, i) => next - i)
      .filter((window) => window >= 0)
      .map((window) => findStatus(server, manifest.task, window)),
  );
  return found.filter((status) => status !== undefined);
}

function describe(manifest: Manifest, windows: readonly WindowStatus[]): string {
  const rows = windows.map(({ window, state, from, to, closes, enrolled, received }) => [
    `${window}`,
    state,
    utc(from),
    utc(to),
    utc(closes),
    count(enrolled),
    count(received),
  ]);
  return [
    describeTask(manifest, `collected from window ${manifest.fromWindow} on`),
    "",
    ...manifest.servers.map(
      ({ role, url, key }) => `${role === "helper" ? "the helper is" : "devices use"} ${url}, operator key ${key}`,
    ),
    "",
    formatTable(["window", "state", "begins (UTC)", "ends", "closes", "enrolled", "received"], rows, 5),
    "",
    `results: ${resultsCommand(manifest)}`,
  ].join("\n");
}
