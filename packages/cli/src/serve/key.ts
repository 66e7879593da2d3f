import { existsSync } from "node:fs";
import type { Command } from "commander";
import { dataOption, keyFileOption } from "../options/options.ts";
import { type KeyFileOptions, keyFileOf } from "./key-file.ts";

export function addKey(program: Command): void {
  program
    .command("key")
    .description("the operator key of a service: what devices pin, and what leader and helper must know of each other")
    .addOption(dataOption())
    .addOption(keyFileOption())
    .option("--json", "print JSON only")
    .addHelpText("after", HELP)
    .action(tellKey);
}

const HELP = `
A key file that is not there is made, as lethe serve would make it, so that the key can be told before the service starts.`;

async function tellKey({ json, ...options }: KeyFileOptions & { readonly json?: boolean }): Promise<void> {
  const databaseUrl = process.env.DATABASE_URL;
  const keyFile = keyFileOf(options, databaseUrl);
  // Data without its keys: a new file would only hide that the old one is missing.
  const create = databaseUrl !== undefined || !existsSync(options.data);
  // Here, as the service takes as long to load as all the rest.
  const { operatorKeyOf } = await import("@lethe/server");
  const operatorKey = operatorKeyOf(keyFile, { create });
  console.log(json ? JSON.stringify({ operatorKey, keyFile }) : operatorKey);
}
