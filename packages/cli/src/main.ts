/**
 * The command `lethe`. Each folder is one command, or the commands that share its code; `options`, `print` and `system`
 * hold what several commands use. A command parses options and prints; core, analyst, lab and server do the work.
 * Commands import none of each other's code.
 */
import { readFileSync } from "node:fs";
import { LetheError } from "@lethe/core/error";
import { Command, CommanderError } from "commander";
import { hintFor, isFailure } from "./system/failure.ts";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};

// An empty variable counts as not set.
for (const name of [
  "DATABASE_URL",
  "LETHE_ADMIN_TOKEN",
  "LETHE_DATA",
  "LETHE_KEY_FILE",
  "LETHE_PEER_SECRET",
  "LETHE_SERVER",
  "LETHE_WEBHOOK",
]) {
  if (process.env[name] === "") delete process.env[name];
}

const program = new Command("lethe")
  .description("telemetry that devices cannot remember")
  .version(version)
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(`${text.trim().replaceAll("\n", " ")}\n`) });
// In the order of the help, which loads all of them. A command loads only itself.
const COMMANDS: Readonly<Record<string, () => Promise<(program: Command) => void>>> = {
  demo: async () => (await import("./demo/demo.ts")).addDemo,
  try: async () => (await import("./try/try.ts")).addTry,
  serve: async () => (await import("./serve/serve.ts")).addServe,
  key: async () => (await import("./serve/key.ts")).addKey,
  task: async () => (await import("./task/task.ts")).addTask,
  plan: async () => (await import("./plan/plan.ts")).addPlan,
  simulate: async () => (await import("./simulate/simulate.ts")).addSimulate,
  lab: async () => (await import("./lab/lab.ts")).addLab,
  audit: async () => (await import("./audit/audit.ts")).addAudit,
  results: async () => (await import("./results/results.ts")).addResults,
  collect: async () => (await import("./results/collect.ts")).addCollect,
};
const [, , asked = ""] = process.argv;
const named = Object.hasOwn(COMMANDS, asked) ? COMMANDS[asked] : undefined;
for (const load of named ? [named] : Object.values(COMMANDS)) (await load())(program);

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = exitCode(error);
}

/**
 * The exit code. It is 0 after help and version. An error that the user can correct prints one line and is 2, whether
 * commander, another package or a command found it. A failure of the service itself is 1. Anything else is a bug, and
 * is thrown.
 */
function exitCode(error: unknown): number {
  if (error instanceof CommanderError && !isFailure(error)) return error.exitCode === 0 ? 0 : 2;
  if (!(error instanceof CommanderError || error instanceof RangeError || error instanceof LetheError)) throw error;
  process.stderr.write(`error: ${error.message}${error instanceof LetheError ? hintFor(error) : ""}\n`);
  if (error instanceof CommanderError) return error.exitCode;
  return error instanceof LetheError && error.code === "service-failed" ? 1 : 2;
}
