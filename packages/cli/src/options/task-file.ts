import { LetheError } from "@lethe/core/error";
import { parseTask, type Task } from "@lethe/core/message";
import { readTextFile } from "../system/text-file.ts";

/** The task in a file; whatever is wrong with either is a `bad-task` error that begins with the file's path. */
export function readTask(path: string): Task {
  try {
    return parseTask(readTextFile(path, "a task file"));
  } catch (error) {
    if (!(error instanceof LetheError || error instanceof RangeError)) throw error;
    throw new LetheError("bad-task", `${path}: ${error.message}`);
  }
}
