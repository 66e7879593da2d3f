import type { Manifest, WindowStatus } from "@lethe/core/message";
import { requireAdminToken } from "../options/admin-token.ts";
import { resultsCommand } from "../print/results-command.ts";
import { describeExposure } from "../print/room.ts";
import { count, formatTable } from "../print/table.ts";
import { inWords, utc } from "../print/time.ts";
import { askJson, fetchManifest } from "../service-client.ts";
import { findStatus, isUnfinished, oldestInGrace, runningWindow } from "../window.ts";
import { describeTask } from "./check.ts";

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

interface TaskList {
  readonly tasks: readonly TaskSummary[];
  /** At a helper: what its leader may create and has not. */
  readonly agreed?: readonly { readonly task: string; readonly version: number }[];
}

export async function listTasks({ server, json }: Options): Promise<void> {
  const token = requireAdminToken();
  const { tasks, agreed } = await askJson<TaskList>(server, "/v1/tasks", { token });
  if (json) {
    console.log(JSON.stringify({ tasks, ...(agreed && { agreed }) }));
    return;
  }
  if (tasks.length === 0) {
    const next = agreed ? "agree" : "create";
    console.log(`no tasks yet${agreed?.length ? "" : `: npx lethe task ${next} task.json`}`);
  } else {
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
  for (const { task, version } of agreed ?? []) console.log(`${task}, version ${version}: agreed, not created yet`);
}

export async function showTask(task: string, { server, json }: Options): Promise<void> {
  const manifest = await fetchManifest(server, task);
  const windows = await unfinishedWindows(server, manifest);
  console.log(json ? JSON.stringify({ manifest, windows }) : describe(manifest, windows));
}

const MOST_OPEN = 5;
/** How far back one is looked for that should be finished, and is not: because its helper is away, say. */
const MOST_OVERDUE = 30;

/** The next window, the running one, those before it that take reports, and those that wait to be finished; newest first. */
async function unfinishedWindows(server: string, manifest: Manifest): Promise<WindowStatus[]> {
  const next = runningWindow(manifest) + 1;
  const over = oldestInGrace(manifest) - 1;
  const open = Array.from({ length: Math.min(next - over, MOST_OPEN) }, (_, i) => next - i);
  const overdue = Array.from({ length: MOST_OVERDUE }, (_, i) => over - i);
  const found = await Promise.all(
    [...open, ...overdue]
      .filter((window) => window >= 0)
      .map(async (window) => {
        const status = await findStatus(server, manifest.task, window);
        return status && (window > over || (await isUnfinished(server, status))) ? status : undefined;
      }),
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
    ...describeExposure(manifest),
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
