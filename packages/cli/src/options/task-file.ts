import { LetheError } from "@lethe/core/error";
import { parseTask, type Task } from "@lethe/core/message";
import { readTextFile } from "../system/text-file.ts";

/** Reads the task in a file. Throws `bad-task`, with the path of the file, if the file or the task is wrong. */
export function readTask(path: string): Task {
  try {
    return parseTask(readTextFile(path, "a task file"));
  } catch (error) {
    if (!(error instanceof LetheError || error instanceof RangeError)) throw error;
    throw new LetheError("bad-task", `${path}: ${error.message}`);
  }
}
