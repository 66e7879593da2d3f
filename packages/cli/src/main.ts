import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { addDemo } from "./demo.ts";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};

const program = new Command("lethe")
  .description("telemetry that devices cannot remember")
  .version(version)
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(`${text.trim().replaceAll("\n", " ")}\n`) });
addDemo(program);

try {
  await program.parseAsync();
} catch (error) {
  // Commander has printed its one line already; help and version end well, everything else is bad input.
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}
