import { statSync, writeFileSync } from "node:fs";
import { fetchManifest } from "@lethe/analyst";
import { LetheError } from "@lethe/core/error";
import { eventsOf, type Task } from "@lethe/core/message";
import { readTask } from "../options/task-file.ts";
import { failure } from "../system/failure.ts";

/** `lethe task types`. */
export async function writeTaskTypes(
  fileOrTask: string,
  { server, output, json }: { readonly server: string; readonly output?: string; readonly json?: boolean },
): Promise<void> {
  const task = isFile(fileOrTask) ? readTask(fileOrTask) : await fetchNamed(server, fileOrTask);
  const text = typesOf(task);
  if (output !== undefined) write(output, text);
  if (json) {
    const { task: name, version } = task;
    console.log(JSON.stringify({ task: name, version, metrics: eventsOf(task), ...(output && { output }) }));
  } else if (output === undefined) process.stdout.write(text);
  else console.log(`${eventsOf(task).length} names written to ${output}`);
}

/** A module with the names of the events of a task's metrics, so that the compiler can check calls of `record`. */
function typesOf(task: Task): string {
  return [
    `// Metrics of task ${task.task}, version ${task.version}. The names of their events, for \`record\`.`,
    '// Made by "lethe task types": do not edit.',
    "export const metrics = [",
    ...eventsOf(task).map((name) => `  ${JSON.stringify(name)},`),
    "] as const;",
    "",
    "export type Metric = (typeof metrics)[number];",
    "",
  ].join("\n");
}

function isFile(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && !found.isDirectory();
}

/** A misspelt path looks like the name of a task, so the error names both. */
async function fetchNamed(server: string, name: string): Promise<Task> {
  try {
    return await fetchManifest(server, name);
  } catch (error) {
    if (!(error instanceof LetheError)) throw error;
    if (error.code === "unknown-task" || error.code === "bad-encoding") {
      throw failure(`there is no file ${name}, and no task of that name at ${server}`);
    }
    throw new LetheError(error.code, `there is no file ${name}, and ${error.message}`);
  }
}

function write(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw failure(`${path} cannot be written: ${code === "ENOENT" ? "there is no such folder" : code}`);
  }
}
