import type { Command } from "commander";
import { serverOption, windowNumber } from "../options/options.ts";
import { agreeToTask } from "./agree.ts";
import { checkTask } from "./check.ts";
import { closeTaskWindow } from "./close.ts";
import { createTask } from "./create.ts";
import { listTasks, showTask } from "./show.ts";
import { printSnippet } from "./snippet.ts";
import { writeTaskTypes } from "./types.ts";

export function addTask(program: Command): void {
  const task = program.command("task").description("tasks: what a fleet of devices is asked");
  task
    .command("check")
    .description("say whether a task file is right, and if not, which field is wrong")
    .argument("<file>", "the task file, JSON")
    .option("--json", "print JSON only")
    .action(checkTask);
  task
    .command("create")
    .description("have the service collect a task, or a higher version of one; takes the admin token (see below)")
    .argument("<file>", "the task file, JSON")
    .addOption(serverOption())
    .option("--json", "print JSON only")
    .addHelpText("after", ADMIN_HELP)
    .action(createTask);
  task
    .command("agree")
    .description("have a helper agree to a task, which its leader may then create; takes the admin token (see below)")
    .argument("<file>", "the task file, JSON: the same that the leader's operator has")
    .addOption(serverOption())
    .option("--withdraw", "take the agreement back, unless the leader has created the task")
    .option("--json", "print JSON only")
    .addHelpText("after", ADMIN_HELP)
    .action(agreeToTask);
  task
    .command("list")
    .description("all tasks of the service; takes the admin token (see below)")
    .addOption(serverOption())
    .option("--json", "print JSON only")
    .addHelpText("after", ADMIN_HELP)
    .action(listTasks);
  task
    .command("show")
    .description("a task as it runs, and how far its windows are")
    .argument("<task>", "its name")
    .addOption(serverOption())
    .option("--json", "print JSON only")
    .action(showTask);
  task
    .command("types")
    .description("a TypeScript module with the names of a task's metrics")
    .argument("<task>", "a task file; if there is no such file, the name of a task of the service")
    .option("-o, --output <file>", "write it to a file")
    .addOption(serverOption())
    .option("--json", "print JSON only")
    .action(writeTaskTypes);
  task
    .command("snippet")
    .description(
      "the script tag of the SDK, with its integrity, and the lines that open it in a page without a bundler",
    )
    .argument("<task>", "its name")
    .addOption(serverOption())
    .option("--json", "print JSON only")
    .action(printSnippet);
  task
    .command("close")
    .description("release a window before its time; takes the admin token (see below)")
    .argument("<task>", "its name")
    .argument(
      "[window]",
      "its number; by default the newest window that is over and still waits for late reports. The running window is " +
        "closed only if it is named: its devices have yet to report, and will be refused",
      windowNumber,
    )
    .addOption(serverOption())
    .option("--json", "print JSON only")
    .addHelpText("after", ADMIN_HELP)
    .action(closeTaskWindow);
}

const ADMIN_HELP = `
The admin token is taken from LETHE_ADMIN_TOKEN, else from the file admin-token in the service's data folder, which
is LETHE_DATA or ./lethe-data.`;
