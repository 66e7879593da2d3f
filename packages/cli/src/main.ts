import { readFileSync } from "node:fs";
import { LetheError } from "@lethe/core/error";
import { Command, CommanderError } from "commander";
import { addAudit } from "./audit.ts";
import { addCollect } from "./collect.ts";
import { addDemo } from "./demo.ts";
import { isFailure } from "./failure.ts";
import { addKey } from "./key.ts";
import { addLab } from "./lab.ts";
import { addPlan } from "./plan.ts";
import { addResults } from "./results.ts";
import { addServe } from "./serve.ts";
import { addSimulate } from "./simulate.ts";
import { addTask } from "./task.ts";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};

// A variable that is set to nothing is not set.
for (const name of [
  "DATABASE_URL",
  "LETHE_ADMIN_TOKEN",
  "LETHE_DATA",
  "LETHE_KEY_FILE",
  "LETHE_PEER_SECRET",
  "LETHE_SERVER",
]) {
  if (process.env[name] === "") delete process.env[name];
}

const program = new Command("lethe")
  .description("telemetry that devices cannot remember")
  .version(version)
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(`${text.trim().replaceAll("\n", " ")}\n`) });
addDemo(program);
addServe(program);
addKey(program);
addTask(program);
addPlan(program);
addSimulate(program);
addLab(program);
addAudit(program);
addResults(program);
addCollect(program);

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = exitCode(error);
}

/** Help and version end well; bad input, in the words of commander, of core or our own, ends with one line and code 2. */
function exitCode(error: unknown): number {
  if (isFailure(error)) {
    process.stderr.write(`error: ${error.message}\n`);
    return error.exitCode;
  }
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (!(error instanceof RangeError || error instanceof LetheError)) throw error;
  process.stderr.write(`error: ${error.message}\n`);
  return 2;
}
