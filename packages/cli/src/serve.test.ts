import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../server/test/eventually.ts";
import { createShiftedClock } from "../../server/test/shifted-clock.ts";
import { letheWith, type RunningService, START_TIMEOUT, startService } from "../test/lethe.ts";

let folder: string;
let service: RunningService;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lethe-serve-"));
  service = await startService({ cwd: folder });
}, START_TIMEOUT);
afterAll(async () => {
  service.process.kill("SIGKILL");
  await service.ended;
  rmSync(folder, { recursive: true });
});

/** Nobody listens at the first port. */
const NO_DATABASE = "postgres://lethe:hunter2@127.0.0.1:1/lethe";

/** What is refused leaves nothing behind. */
function serve(env: Record<string, string>, ...args: string[]) {
  return letheWith({ cwd: folder, env }, "serve", "--port", "0", ...args);
}

describe("lethe serve", () => {
  it("tells where everything is, and keeps a token for the admin that nobody else may read", () => {
    expect(service).toMatchObject({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      operatorKey: expect.stringMatching(/^ed25519:[\w-]{43}$/),
      data: join(folder, "lethe-data"),
      keyFile: join(folder, "lethe-data.keys"),
    });
    const token = join(service.data, "admin-token");
    expect(statSync(token).mode & 0o777).toBe(0o600);
    expect(readFileSync(token, "utf8")).toMatch(/^[\w-]{43}\n$/);
  });

  it("delivers the console at /, with all of its files, and nothing beside them", async () => {
    const page = await fetch(`${service.url}/`);
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none'; script-src 'self';/);
    const html = await page.text();
    const named = [...html.matchAll(/(?:src|href)="\.?(\/[^"]+)"/g)].map(([, path = ""]) => path);
    expect(named.length).toBeGreaterThan(1);
    for (const path of named) {
      const file = await fetch(service.url + path);
      expect([path, file.status, file.headers.get("x-content-type-options")]).toEqual([path, 200, "nosniff"]);
    }
    for (const path of ["/package.json", "/assets", "/assets/..%2f..%2f..%2fpackage.json"]) {
      expect([path, (await fetch(service.url + path)).status]).toEqual([path, 404]);
    }
    expect(await (await fetch(`${service.url}/v1/console`)).json()).toMatchObject({ privateResults: false });
  });

  it(
    "--private-results keeps releases for those who have the admin token",
    async () => {
      const cwd = mkdtempSync(join(tmpdir(), "lethe-private-"));
      const closed = await startService({ cwd }, "--private-results");
      try {
        expect(await (await fetch(`${closed.url}/v1/console`)).json()).toMatchObject({ privateResults: true });
        const authorization = `Bearer ${readFileSync(join(closed.data, "admin-token"), "utf8").trim()}`;
        const path = `${closed.url}/v1/tasks/some/releases`;
        expect((await fetch(path)).status).toBe(401);
        expect((await fetch(path, { headers: { authorization } })).status).toBe(404);
        const metrics = [{ name: "happened", statistic: "occurrence", localEpsilon: 1 }];
        const times = { tickSeconds: 60, ticks: 10, graceSeconds: 60, minimumDevices: 10 };
        const task = { version: 1, task: "some", mode: "one-server", ...times, metrics };
        writeFileSync(join(cwd, "task.json"), JSON.stringify(task));
        const env = { LETHE_SERVER: closed.url };
        expect(letheWith({ cwd, env }, "task", "create", "task.json").status).toBe(0);
        // In the folder of the service its token is found, elsewhere it is not.
        expect(JSON.parse(letheWith({ cwd, env }, "results", "some", "--json").stdout)).toMatchObject({
          status: "pending",
        });
        expect(letheWith({ cwd: tmpdir(), env }, "results", "some").stderr).toMatch(
          /^error: the admin token is missing: set LETHE_ADMIN_TOKEN, /,
        );
      } finally {
        closed.process.kill("SIGKILL");
        await closed.ended;
        rmSync(cwd, { recursive: true });
      }
    },
    START_TIMEOUT,
  );

  it("a second service on the same folder is refused with one line", () => {
    const { status, stdout, stderr } = serve({}, "--key-file", join(folder, "other.keys"));
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toBe(
      `error: the data folder ${service.data} is in use by process ${service.process.pid}: stop that one, or use another folder\n`,
    );
  });

  it("what cannot work is refused with one line, before anything is made", () => {
    const files = {
      short: "short\n",
      empty: "\n\n",
      nothing: "export const other = 1;\n",
      broken: "export const = 1;\n",
    };
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, `${name}.mjs`), content);
    const inside = join(folder, "new", "keys");
    for (const [message, env, ...args] of [
      ["--role intake needs a database that processes can share: set DATABASE_URL", {}, "--role", "intake"],
      ["--role tally needs a database that processes can share: set DATABASE_URL", {}, "--role", "tally"],
      ["option '--role <role>' argument 'both' is invalid", {}, "--role", "both"],
      ["--peer-key is missing: the leader's operator key", {}, "--role", "helper"],
      [
        "argument 'ed25519:short' is invalid. It must be an operator key",
        {},
        "--role",
        "helper",
        "--peer-key",
        "ed25519:short",
      ],
      [
        "--peer-key is this helper's own operator key: give the leader's, which lethe key prints there",
        { LETHE_PEER_SECRET: "a secret of leader and helper, and of nobody else" },
        ...["--role", "helper", "--peer-key", service.operatorKey, "--key-file", service.keyFile],
      ],
      ["the admin token is missing, which all tallies share: set LETHE_ADMIN_TOKEN", { DATABASE_URL: NO_DATABASE }],
      ["--data is for the embedded database, but DATABASE_URL is set", { DATABASE_URL: NO_DATABASE }, "--data", "new"],
      [
        "the database of DATABASE_URL cannot be used: connect ECONNREFUSED",
        { DATABASE_URL: NO_DATABASE },
        "--role",
        "intake",
      ],
      [
        "DATABASE_URL is like postgres://user:password@host:5432/database",
        { DATABASE_URL: "mysql://root:hunter2@localhost/lethe" },
        "--role",
        "intake",
      ],
      [
        "the admin token in LETHE_ADMIN_TOKEN is too short: it must have at least 16",
        { LETHE_ADMIN_TOKEN: "fifteen-letters" },
      ],
      [
        "the admin token in LETHE_ADMIN_TOKEN must have at most 500 characters",
        { LETHE_ADMIN_TOKEN: "with blanks in between" },
      ],
      [`the key file ${inside} lies inside the data folder`, { LETHE_KEY_FILE: inside }],
      [`the key file ${inside} lies inside the data folder`, {}, "--key-file", "new/../new/keys"],
      ["empty.mjs: there is no token in it", {}, "--enrolment-tokens", "empty.mjs"],
      ["short.mjs: line 1 is not a token", {}, "--enrolment-tokens", "short.mjs"],
      ["missing: there is no such file", {}, "--enrolment-tokens", "missing"],
      ["nothing.mjs: it does not export a function attest", {}, "--attestation", "nothing.mjs"],
      ["broken.mjs: it cannot be loaded: ", {}, "--attestation", "broken.mjs"],
      ["missing.mjs: it cannot be loaded: Cannot find module", {}, "--attestation", "missing.mjs"],
      ["option '--url <url>' argument 'telemetry.example' is invalid", {}, "--url", "telemetry.example"],
      ["option '--port <n>' argument '65536' is invalid", {}, "--port", "65536"],
      ["option '--threads <n>' argument '0' is invalid", {}, "--threads", "0"],
    ] as [string, Record<string, string>, ...string[]][]) {
      const { status, stdout, stderr } = serve({ LETHE_DATA: "new", ...env }, ...args);
      expect({ message, status, stdout }).toEqual({ message, status: 2, stdout: "" });
      expect(stderr).toMatch(/^error: [^\n]*\n$/);
      expect(stderr).toContain(message);
      expect(stderr).not.toContain("hunter2");
    }
    expect(statSync(join(folder, "new"), { throwIfNoEntry: false })).toBeUndefined();
  });

  it("a key file that a link leads into the data folder is inside", () => {
    mkdirSync(join(folder, "linked"));
    symlinkSync(join(folder, "linked"), join(folder, "link"));
    expect(serve({ LETHE_DATA: "linked" }, "--key-file", "link/keys").stderr).toContain("lies inside the data folder");
  });

  it("a folder that is not its own, and a file in the way, are refused and left as they are", () => {
    mkdirSync(join(folder, "documents"));
    writeFileSync(join(folder, "documents", "letter.txt"), "");
    expect(serve({}, "--data", "documents").stderr).toMatch(
      /^error: .*\/documents holds letter.txt and no database: .*\n$/,
    );
    expect(statSync(join(folder, "documents", "admin-token"), { throwIfNoEntry: false })).toBeUndefined();
    writeFileSync(join(folder, "file"), "");
    expect(serve({}, "--data", "file").stderr).toMatch(/^error: the data folder .*\/file cannot be made\n$/);
    expect(serve({}, "--data", "x", "--key-file", "nowhere/keys").stderr).toMatch(/^error: .*\/nowhere\/keys.*\n$/);
    writeFileSync(join(folder, "open.keys"), "{}", { mode: 0o644 });
    expect(serve({}, "--data", "x", "--key-file", "open.keys").stderr).toMatch(
      /^error: others may read the key file .*\n$/,
    );
  });

  it("ends well on SIGTERM, and keeps key and token for the next start, which a taken port refuses", async () => {
    const data = join(folder, "again");
    const own = await startService({ cwd: folder }, "--data", data);
    const token = readFileSync(join(data, "admin-token"), "utf8");
    own.process.kill("SIGTERM");
    const { status, stderr } = await own.ended;
    expect(status).toBe(0);
    expect(stderr).toContain("warning: DEVELOPMENT.");
    expect(stderr).not.toContain(token.trim());

    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    const refused = serve({}, "--data", data, "--port", `${port}`);
    other.close();
    expect(refused).toEqual({
      status: 2,
      stdout: "",
      stderr: `error: port ${port} of 127.0.0.1 is in use: choose another with --port\n`,
    });
    expect(serve({}, "--data", data, "--host", "192.0.2.1").stderr).toBe(
      "error: 192.0.2.1 is not an address of this machine: choose another with --host\n",
    );

    const next = await startService({ cwd: folder }, "--data", data);
    expect(next.operatorKey).toBe(own.operatorKey);
    expect(readFileSync(join(data, "admin-token"), "utf8")).toBe(token);
    next.process.kill("SIGINT");
    expect((await next.ended).status).toBe(0);
  });

  it("says that it prepares a database, once; a port in use keeps it from that", async () => {
    const cwd = join(folder, "first");
    mkdirSync(cwd);
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    const refused = letheWith({ cwd }, "serve", "--port", `${port}`);
    other.close();
    expect(refused.stderr).toBe(`error: port ${port} of 127.0.0.1 is in use: choose another with --port\n`);
    expect(readdirSync(cwd).filter((name) => name !== "lethe-data.keys")).toEqual([]);
    const saidBy = async (): Promise<string> => {
      const started = await startService({ cwd, database: "new" });
      started.process.kill("SIGTERM");
      return (await started.ended).stderr;
    };
    expect(await saidBy()).toContain("preparing the database …\n");
    expect(await saidBy()).not.toContain("preparing");
  });

  it("a clock that jumped since the last time stored is waited for, and --accept-clock ends that", async () => {
    const cwd = join(folder, "jumped");
    mkdirSync(cwd);
    const clock = createShiftedClock({ ticks: 1, tickSeconds: 1 });
    const env = {
      ...clock.environment,
      NODE_OPTIONS: clock.arguments.map((argument) => JSON.stringify(argument)).join(" "),
    };
    const readinessAfter = async (...args: string[]): Promise<{ ready: string; log: string }> => {
      const jumped = await startService({ cwd, env }, ...args);
      const ready = await (await fetch(`${jumped.url}/readyz`)).text();
      jumped.process.kill("SIGTERM");
      return { ready, log: (await jumped.ended).stderr };
    };
    expect((await readinessAfter()).ready).toBe("ready\n");
    clock.jump(3 * 86_400);
    const { ready, log } = await readinessAfter();
    expect(ready).toMatch(/^not ready: clocks-apart: the clock says .* restart once with --accept-clock\n$/);
    expect(log).toContain('"msg":"the clock is in doubt"');
    expect((await readinessAfter("--accept-clock")).ready).toBe("ready\n");
  });

  it("a second signal ends it at once, though a request is under way; only its own devices enrol", {
    retry: 5,
  }, async () => {
    const token = "a-token-of-the-operator";
    writeFileSync(join(folder, "tokens"), `${token}\n\n`);
    writeFileSync(join(folder, "attest.mjs"), "export const attest = ({ attestation }) => attestation === 'good';\n");
    const admin = "an-admin-token-of-the-environment";
    const env = { LETHE_ADMIN_TOKEN: admin };
    const rules = ["--enrolment-tokens", "tokens", "--attestation", "attest.mjs"];
    const own = await startService({ cwd: folder, env }, "--data", "rules", ...rules);
    expect(statSync(join(folder, "rules", "admin-token"), { throwIfNoEntry: false })).toBeUndefined();
    expect(await enrolments(own.url, admin, token)).toEqual([401, 401, 201]);

    const request = connect(Number(new URL(own.url).port), "127.0.0.1");
    request.on("error", () => {});
    request.write(
      `POST /v1/tasks HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${admin}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
    );
    // When these are answered, the service has read the request before them.
    for (let i = 0; i < 2; i++) await fetch(`${own.url}/healthz`);
    own.process.kill("SIGTERM");
    await sleep(1000);
    expect(own.process.exitCode).toBeNull();
    own.process.kill("SIGTERM");
    expect((await own.ended).status).toBe(143);
    request.destroy();
  });
});

/** Statuses without a token, with a token alone, and with what the operator's check asks for. */
async function enrolments(url: string, admin: string, token: string): Promise<number[]> {
  const metrics = [{ name: "a", statistic: "occurrence", localEpsilon: 1 }];
  const task = {
    version: 1,
    task: "t",
    tickSeconds: 1,
    ticks: 10,
    graceSeconds: 0,
    mode: "one-server",
    scheme: "lattice",
    minimumDevices: 10,
    metrics,
  };
  const type = { "content-type": "application/json" };
  const created = await fetch(`${url}/v1/tasks`, {
    method: "POST",
    headers: { ...type, authorization: `Bearer ${admin}` },
    body: JSON.stringify(task),
  });
  expect(created.status).toBe(201);
  const window = Math.floor(Date.now() / 10_000) + 1;
  const bearer = { authorization: `Bearer ${token}` };
  const body = JSON.stringify({ attestation: "good" });
  const requests = [{ headers: type, body }, { headers: bearer }, { headers: { ...type, ...bearer }, body }];
  const ask = (request: RequestInit): Promise<number> =>
    eventually(async () => {
      const { status } = await fetch(`${url}/v1/tasks/t/windows/${window}/devices`, { method: "POST", ...request });
      // Its keys are being made.
      return status === 503 ? undefined : status;
    });
  return Promise.all(requests.map(ask));
}
