/**
 * The command `lethe task`, with one file per subcommand. A task says which statistics a fleet of devices is asked for.
 */
import type { Command } from "commander";
import { serverOption, windowNumber } from "../options/options.ts";
import { agreeToTask } from "./agree.ts";
import { checkTask } from "./check.ts";
import { closeTaskWindow } from "./close.ts";
import { createTask } from "./create.ts";
import { listTasks, showTask } from "./show.ts";
import { printSnippet } from "./snippet.ts";
import { writeTaskTypes } from "./types.ts";

/** Adds the command to the program. */
export function addTask(program: Command): void {
  const task = program
    .command("task")
    .description("check, create, show and close tasks, which say what a fleet of devices counts");
  task
    .command("check")
    .description("check a task file, and name the field that is wrong")
    .argument("<file>", "the task file, JSON")
    .option("--json", "print JSON only")
    .action(checkTask);
  task
    .command("create")
    .description("create a task at the service, or a higher version of one; needs the admin token (see below)")
    .argument("<file>", "the task file, JSON")
    .addOption(serverOption())
    .option("--json", "print JSON only")
    .addHelpText("after", ADMIN_HELP)
    .action(createTask);
  task
    .command("agree")
    .description("let a helper agree to a task, so that its leader can create it; needs the admin token (see below)")
    .argument("<file>", "the task file, JSON: the same as the leader's operator has")
    .addOption(serverOption())
    .option("--withdraw", "withdraw the agreement, unless the leader has created the task")
    .option("--json", "print JSON only")
    .addHelpText("after", ADMIN_HELP)
    .action(agreeToTask);
  task
    .command("list")
    .description("list all tasks of the service; needs the admin token (see below)")
    .addOption(serverOption())
    .option("--json", "print JSON only")
    .addHelpText("after", ADMIN_HELP)
    .action(listTasks);
  task
    .command("show")
    .description("show a task as it runs, and the state of its windows")
    .argument("<task>", "the name of the task")
    .addOption(serverOption())
    .option("--json", "print JSON only")
    .action(showTask);
  task
    .command("types")
    .description("write a TypeScript module with the names of a task's metrics")
    .argument("<task>", "a task file, or, if there is no such file, the name of a task of the service")
    .option("-o, --output <file>", "write the module to a file")
    .addOption(serverOption())
    .option("--json", "print JSON only")
    .action(writeTaskTypes);
  task
    .command("snippet")
    .description(
      "print the script tag of the SDK, with its integrity, and the lines that open it in a page without a bundler",
    )
    .argument("<task>", "the name of the task")
    .addOption(serverOption())
    .option("--json", "print JSON only")
    .action(printSnippet);
  task
    .command("close")
    .description("close and release a window before its time; needs the admin token (see below)")
    .argument("<task>", "the name of the task")
    .argument(
      "[window]",
      "its number; by default the newest window that is over and still waits for late reports. To close the running " +
        "window, name it: the reports of its devices will then be refused",
      windowNumber,
    )
    .addOption(serverOption())
    .option("--json", "print JSON only")
    .addHelpText("after", ADMIN_HELP)
    .action(closeTaskWindow);
}

const ADMIN_HELP = `
The admin token comes from LETHE_ADMIN_TOKEN, else from the file admin-token in the service's data folder, which is
LETHE_DATA or ./lethe-data.`;
