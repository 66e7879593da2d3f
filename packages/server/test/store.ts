import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import { openDataFolder } from "../dist/storage/data-folder.js";
import type { Database } from "../dist/storage/database.js";
import { openPostgres } from "../dist/storage/postgres.js";
import { copyEmptyDatabase } from "./folder.ts";
import { createDatabase, dropDatabase, nameOf, query } from "./postgres-databases.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A database from which others can be made, in the tests with PostgreSQL. */
    readonly databaseServer: string | undefined;
  }
}

/** A database for one service, embedded or on a server: vitest.config.ts says which tests run with which. */
export interface Store {
  /** As a service takes them. */
  readonly options: { readonly data: string } | { readonly databaseUrl: string };
  open(): Promise<Database>;
  /** Copies everything, while nobody uses it; what this returns puts it back. */
  backup(): Promise<() => Promise<void>>;
  remove(): Promise<void>;
}

/** Empty; if it is embedded, in this folder. */
export function createStore(folder: string): Promise<Store> {
  const server = inject("databaseServer");
  return server === undefined ? createEmbedded(folder) : createOnServer(server);
}

async function createEmbedded(folder: string): Promise<Store> {
  const [data, copy] = [join(folder, "data"), join(folder, "backup")];
  await copyEmptyDatabase(data);
  return {
    options: { data },
    open: () => openDataFolder(data),
    backup: async () => {
      cpSync(data, copy, { recursive: true });
      return async () => {
        rmSync(data, { recursive: true });
        cpSync(copy, data, { recursive: true });
      };
    },
    remove: async () => {
      for (const path of [data, copy]) rmSync(path, { recursive: true, force: true });
    },
  };
}

async function createOnServer(server: string): Promise<Store> {
  const databaseUrl = await createDatabase(server);
  const made = [databaseUrl];
  return {
    options: { databaseUrl },
    open: () => openPostgres(databaseUrl),
    backup: async () => {
      const copy = await createDatabase(server, databaseUrl);
      made.push(copy);
      return async () => {
        await dropDatabase(server, databaseUrl);
        await query(server, `ALTER DATABASE ${nameOf(copy)} RENAME TO ${nameOf(databaseUrl)}`);
      };
    },
    remove: async () => {
      for (const database of made) await dropDatabase(server, database);
    },
  };
}
