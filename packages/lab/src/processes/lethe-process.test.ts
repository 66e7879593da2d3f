import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createLetheProcesses } from "./lethe-process.ts";

/**
 * Stands for the command: serves until it is ended, ignores SIGTERM if it is asked to, fails, or prints its
 * environment.
 */
const COMMAND = `
const [command, , how] = process.argv.slice(2);
if (command === "serve") {
  if (how === "deaf") process.on("SIGTERM", () => {});
  setInterval(() => {}, 1000);
  console.log(JSON.stringify({ url: String(process.pid) }));
} else if (command === "fail") {
  console.error("error: no such luck");
  process.exitCode = 2;
} else console.log(JSON.stringify(process.env));
`;

let folder: string;
let command: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "lethe-process-"));
  command = join(folder, "command.mjs");
  writeFileSync(command, COMMAND);
});
afterAll(() => rmSync(folder, { recursive: true }));

it("ends what it started, also what does not want to end", async () => {
  const processes = createLetheProcesses(command);
  const pids = await Promise.all([processes.serve({}), processes.serve({}, "deaf")]);
  for (const pid of pids) expect(process.kill(Number(pid), 0)).toBe(true);
  await processes.stop();
  for (const pid of pids) expect(() => process.kill(Number(pid), 0)).toThrow("ESRCH");
});

it("says why a process ended that should not have", async () => {
  const processes = createLetheProcesses(command);
  await expect(processes.run({}, "fail")).rejects.toThrow("lethe fail ended: error: no such luck");
  await processes.stop();
});

it("settings for Lethe in the environment are not passed on", async () => {
  const before = process.env.DATABASE_URL;
  process.env.DATABASE_URL = "postgres://elsewhere/lethe";
  const seen = JSON.parse(await createLetheProcesses(command).run({ LETHE_DATA: "own" }, "show")) as object;
  if (before === undefined) delete process.env.DATABASE_URL;
  else process.env.DATABASE_URL = before;
  expect(seen).toMatchObject({ LETHE_DATA: "own" });
  expect(seen).not.toHaveProperty("DATABASE_URL");
});
