import type { TestProject } from "vitest/node";
import { testDatabases } from "./postgres.ts";

/** Starts one server for all tests of the run. Each service gets a new database on it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const databases = await testDatabases();
  project.provide("databaseServer", await databases.createDatabase());
  return databases.close;
}
