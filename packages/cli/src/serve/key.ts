import { existsSync } from "node:fs";
import type { Command } from "commander";
import { dataOption, keyFileOption } from "../options/options.ts";
import { type KeyFileOptions, keyFileOf } from "./key-file.ts";

/** Adds the command to the program. */
export function addKey(program: Command): void {
  program
    .command("key")
    .description(
      "print the operator key of a service, which devices pin, and which leader and helper must know of each other",
    )
    .addOption(dataOption())
    .addOption(keyFileOption())
    .option("--json", "print JSON only")
    .addHelpText("after", HELP)
    .action(tellKey);
}

const HELP = `
If there is no key file, it is created, as lethe serve would do, so that you can publish the key before the service
starts.`;

async function tellKey({ json, ...options }: KeyFileOptions & { readonly json?: boolean }): Promise<void> {
  const databaseUrl = process.env.DATABASE_URL;
  const keyFile = keyFileOf(options, databaseUrl);
  // If there is data without a key file, a new key file would hide that the old one is missing.
  const create = databaseUrl !== undefined || !existsSync(options.data);
  // Imported here because loading the service takes as long as everything else.
  const { operatorKeyOf } = await import("@lethe/server");
  const operatorKey = operatorKeyOf(keyFile, { create });
  console.log(json ? JSON.stringify({ operatorKey, keyFile }) : operatorKey);
}
