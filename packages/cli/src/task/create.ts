import { type CreatedTask, createTask as create } from "@lethe/analyst";
import { type Task, timesOf } from "@lethe/core/message";
import { requireAdminToken } from "../options/admin-token.ts";
import { readTask } from "../options/task-file.ts";
import { describeLimits, describeWrites } from "../print/room.ts";
import { inWords, utcAndLocal } from "../print/time.ts";

/** `lethe task create`. */
export async function createTask(
  file: string,
  { server, json }: { readonly server: string; readonly json?: boolean },
): Promise<void> {
  const task = readTask(file);
  const token = requireAdminToken();
  const created = await create(server, token, task);
  console.log(json ? JSON.stringify(toJson(created)) : describe(created, task, file));
}

function toJson({ isNew, manifest }: CreatedTask): unknown {
  const { from, to } = timesOf(manifest, manifest.fromWindow);
  return { created: isNew, from, to, manifest };
}

function describe({ isNew, manifest }: CreatedTask, asked: Task, file: string): string {
  const { task, version, fromWindow, servers, metrics } = manifest;
  const { from, to } = timesOf(manifest, fromWindow);
  const metricCount = `${metrics.length} ${metrics.length === 1 ? "metric" : "metrics"}`;
  return [
    `${task}, version ${version}, ${metricCount}: ${isNew ? "created" : "exists already, exactly like this"}`,
    ...shortenedNote(manifest, asked),
    describeWrites(manifest),
    ...describeLimits(manifest),
    "",
    `from window    ${fromWindow}`,
    `it begins      ${utcAndLocal(from)}`,
    `and ends       ${utcAndLocal(to)}`,
    ...servers.flatMap(({ role, url, key }) =>
      role === "helper"
        ? [`helper         ${url}`, `helper key     ${key}`]
        : [`devices use    ${url}`, `operator key   ${key}`],
    ),
    "",
    `What it costs a device, and how wrong results will be: npx lethe plan --task ${file}`,
  ].join("\n");
}

/** A note if the service runs the task with other times than asked, as a service in development does. */
export function shortenedNote({ ticks, tickSeconds, graceSeconds, minimumDevices }: Task, asked: Task): string[] {
  if (
    ticks === asked.ticks &&
    tickSeconds === asked.tickSeconds &&
    graceSeconds === asked.graceSeconds &&
    minimumDevices === asked.minimumDevices
  ) {
    return [];
  }
  const grace = graceSeconds > 0 ? inWords(graceSeconds) : "none";
  return [
    `note: this service is for development: windows of ${inWords(ticks * tickSeconds)}, grace ${grace}, at least ${minimumDevices} devices`,
  ];
}
