import { fetchManifest, listTasks as list, unfinishedWindows } from "@lethe/analyst";
import type { Manifest, WindowStatus } from "@lethe/core/message";
import { requireAdminToken } from "../options/admin-token.ts";
import { resultsCommand } from "../print/results-command.ts";
import { describeExposure } from "../print/room.ts";
import { count, formatTable } from "../print/table.ts";
import { inWords, utc } from "../print/time.ts";
import { describeTask } from "./check.ts";

interface Options {
  readonly server: string;
  readonly json?: boolean;
}

/** `lethe task list`. */
export async function listTasks({ server, json }: Options): Promise<void> {
  const token = requireAdminToken();
  const { tasks, agreed } = await list(server, token);
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

/** `lethe task show`. */
export async function showTask(task: string, { server, json }: Options): Promise<void> {
  const manifest = await fetchManifest(server, task);
  const windows = await unfinishedWindows(server, manifest);
  console.log(json ? JSON.stringify({ manifest, windows }) : describe(manifest, windows));
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
