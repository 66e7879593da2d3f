import type { TestProject } from "vitest/node";
import { testDatabases } from "./postgres.ts";

/** One server for all tests of the run: each service has its own database on it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const databases = await testDatabases();
  project.provide("databaseServer", await databases.createDatabase());
  return databases.close;
}
