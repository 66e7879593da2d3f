import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Release } from "@lethe/core/message";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PostgresServer, startPostgres } from "../../server/test/postgres.ts";
import { letheWith, type RunningService, START_TIMEOUT, simulateInTime, startService } from "../test/lethe.ts";

const ADMIN = { LETHE_ADMIN_TOKEN: "a-token-that-all-tallies-share" };
const TASK = {
  version: 1,
  task: "kiosk",
  tickSeconds: 60,
  ticks: 10,
  hides: 10,
  graceSeconds: 3600,
  mode: "one-server",
  scheme: "lattice",
  minimumDevices: 1000,
  metrics: [{ name: "opened", statistic: "occurrence", localEpsilon: 2 }],
};

let folder: string;
let postgres: PostgresServer;
let database: { DATABASE_URL: string };
const running: RunningService[] = [];
const start = async (role: string, env: Record<string, string>, ...args: string[]): Promise<RunningService> => {
  const service = await startService({ cwd: folder, env: { ...database, ...env } }, "--role", role, ...args);
  running.push(service);
  return service;
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lethe-roles-"));
  writeFileSync(join(folder, "task.json"), JSON.stringify(TASK));
  postgres = await startPostgres();
  database = { DATABASE_URL: await postgres.createDatabase() };
}, START_TIMEOUT);
afterAll(async () => {
  for (const service of running) service.process.kill("SIGKILL");
  await Promise.all(running.map(({ ended }) => ended));
  await postgres.remove();
  rmSync(folder, { recursive: true });
});

describe("an intake and a tally on one PostgreSQL", () => {
  let intake: RunningService;
  let tally: RunningService;

  it("start in any order; the intake needs neither keys nor a token", async () => {
    intake = await start("intake", {});
    expect(Object.keys(intake).sort()).toEqual(["ended", "process", "role", "url"]);
    tally = await start("tally", ADMIN, "--url", intake.url, "--key-file", "tally.keys");
    expect(tally).toMatchObject({ role: "tally", keyFile: join(folder, "tally.keys") });
    expect(tally.operatorKey).toMatch(/^ed25519:/);
  });

  it("release what devices told the intake", () => {
    const runJson = <T>(...args: string[]): T => {
      const run = () => letheWith({ cwd: folder, env: ADMIN }, ...args, "--json");
      const { status, stdout, stderr } = simulateInTime(run);
      expect({ status, stderr: status === 0 ? "" : stderr }).toEqual({ status: 0, stderr: "" });
      return JSON.parse(stdout) as T;
    };
    const created = runJson<{ manifest: { servers: { url: string }[] } }>(
      "task",
      "create",
      "task.json",
      "--server",
      tally.url,
    );
    expect(created.manifest.servers[0]?.url).toBe(intake.url);
    const devices = ["--server", intake.url, "--task", "kiosk", "--devices", "20"];
    const { window } = runJson<{ window: number }>("simulate", ...devices);
    const release = ["kiosk", "--server", intake.url, "--window", `${window}`, "--wait"];
    expect(runJson<Release>("results", ...release)).toMatchObject({ status: "released", received: 20 });
  });

  it("say who does what one of them does not", async () => {
    const { status, stderr } = letheWith({ cwd: folder, env: ADMIN }, "task", "list", "--server", intake.url);
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringMatching(/^error: .*this process is an intake; the admin asks a tally\n$/),
    });
    const path = `${tally.url}/v1/tasks/kiosk/windows/0/devices`;
    const response = await fetch(path, { method: "POST" });
    expect([response.status, await response.text()]).toEqual([404, expect.stringContaining("devices ask an intake")]);
  });

  it("an intake that has the admin token answers the admin, and a tally signs", async () => {
    const second = await start("intake", ADMIN);
    const run = (env: Record<string, string>, ...args: string[]) =>
      letheWith({ cwd: folder, env }, "task", ...args, "--server", second.url, "--json");
    writeFileSync(join(folder, "second.json"), JSON.stringify({ ...TASK, task: "second" }));
    const created = run(ADMIN, "create", "second.json");
    expect({ status: created.status, stderr: created.stderr }).toEqual({ status: 0, stderr: "" });
    const { manifest } = JSON.parse(created.stdout) as { manifest: { servers: { url: string; key: string }[] } };
    expect(manifest.servers).toEqual([{ role: "tally", url: intake.url, key: tally.operatorKey }]);
    expect(JSON.parse(run(ADMIN, "create", "second.json").stdout)).toMatchObject({ created: false });
    expect(JSON.parse(run(ADMIN, "list").stdout).tasks).toHaveLength(2);
    expect(run({ LETHE_ADMIN_TOKEN: "a-token-of-somebody-else" }, "list").status).toBe(2);
    writeFileSync(join(folder, "third.json"), JSON.stringify({ ...TASK, task: "second", minimumDevices: 7 }));
    const refused = run(ADMIN, "create", "third.json");
    expect([refused.status, refused.stderr]).toEqual([
      2,
      expect.stringContaining("version 1 of second is there already"),
    ]);
    const other = { LETHE_ADMIN_TOKEN: "another-token-than-the-tallies-have" };
    const stranger = await start("intake", other);
    writeFileSync(join(folder, "fourth.json"), JSON.stringify({ ...TASK, task: "fourth" }));
    const unsigned = letheWith({ cwd: folder, env: other }, "task", "create", "fourth.json", "--server", stranger.url);
    expect([unsigned.status, unsigned.stderr]).toEqual([2, expect.stringContaining("admin token")]);
  });

  it("with --require-standby, a database whose commits wait for no standby is refused, and so is an embedded one", () => {
    const begin = (env: Record<string, string>, ...args: string[]) => {
      const { status, stderr } = letheWith({ cwd: folder, env }, "serve", "--port", "0", "--require-standby", ...args);
      expect(status).toBe(2);
      return stderr;
    };
    expect(begin(database, "--role", "intake")).toMatch(
      /^error: --require-standby: synchronous_standby_names is empty in the database.*\n$/,
    );
    expect(begin({})).toMatch(/^error: --require-standby needs a PostgreSQL database.*set DATABASE_URL\n$/);
  });

  it("a tally without the key file, or with another, is refused, and says why", () => {
    const begin = (): string => {
      const args = ["serve", "--role", "tally", "--port", "0", "--key-file", "other.keys", "--url", intake.url];
      const { status, stderr } = letheWith({ cwd: folder, env: { ...database, ...ADMIN } }, ...args);
      expect(status).toBe(2);
      return stderr;
    };
    expect(begin()).toMatch(/^error: the key file .*other\.keys is missing: restore it.*\n$/);
    const secret = randomBytes(32).toString("base64url");
    const keys = { version: 1, operator: secret, chain: secret, windows: {} };
    writeFileSync(join(folder, "other.keys"), JSON.stringify(keys), { mode: 0o600 });
    expect(begin()).toMatch(/^error: .*other\.keys is not the one that this database was used with.*\n$/);
  });
});
