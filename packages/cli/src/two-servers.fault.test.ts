import { createPrivateKey, sign } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assemble, fetchRelease, type ServerShare } from "@lethe/analyst";
import type { Figure, Release } from "@lethe/core/message";
import type { SignedShare } from "@lethe/core/two-server";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { eventually } from "../../server/test/eventually.ts";
import { lethe, letheWith, type RunningService, START_TIMEOUT, simulateInTime, startService } from "../test/lethe.ts";
import { peerOf } from "./serve/peer.ts";

const SECRET = { LETHE_PEER_SECRET: "a secret of leader and helper, and of nobody else" };
const TASK = {
  version: 1,
  task: "shared",
  tickSeconds: 60,
  ticks: 5,
  graceSeconds: 3600,
  mode: "two-server",
  scheme: "elgamal",
  minimumDevices: 4,
  metrics: [
    { name: "opened", statistic: "occurrence", localEpsilon: 20 },
    { name: "crashed", statistic: "occurrence", noise: "servers", sigma: 0.15 },
    { name: "average", statistic: "mean", limit: 2, sigma: 0.1 },
  ],
};
const DEVICES = 5;
type Side = "leader" | "helper";
let folder: string;
const keys = { leader: "", helper: "" };
const services: Partial<Record<Side, RunningService>> = {};

async function start(side: Side, env: Record<string, string>, ...args: string[]): Promise<RunningService> {
  const own = ["--role", side, "--data", side, "--keys-ahead", "10", "--threads", "1", ...args];
  const service = await startService({ cwd: folder, env }, ...own);
  services[side] = service;
  return service;
}

async function kill(side: Side): Promise<void> {
  services[side]?.process.kill("SIGKILL");
  await services[side]?.ended;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lethe-two-servers-"));
  write("task.json", TASK);
  for (const side of ["leader", "helper"] as const) keys[side] = as(side, "key").stdout.trim();
  const helper = await start("helper", SECRET, "--peer-key", keys.leader);
  await start("leader", SECRET, "--peer", helper.url, "--peer-key", keys.helper);
}, 2 * START_TIMEOUT);
afterAll(async () => {
  await Promise.all([kill("leader"), kill("helper")]);
  rmSync(folder, { recursive: true });
});

function write(name: string, content: unknown): string {
  writeFileSync(join(folder, name), JSON.stringify(content));
  return name;
}

const urlOf = (side: Side): string => services[side]?.url ?? "";

/** As an operator: with the data folder of one of the servers, at its address. */
function as(side: Side, ...args: string[]) {
  return letheWith(
    { cwd: folder, env: { LETHE_DATA: side, LETHE_SERVER: urlOf(side) || "http://127.0.0.1:1" } },
    ...args,
  );
}

/** One line, exit code 2, and nothing on stdout. */
function refusal({ status, stdout, stderr }: ReturnType<typeof lethe>): string {
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr).toMatch(/^error: [^\n]*\n$/);
  return stderr.slice("error: ".length).trim();
}

/**
 * A window that is open, and if asked whose next window is there, too. The running one may have been closed early; then
 * it is the next.
 */
function openWindow({ withNext = false } = {}): Promise<number> {
  return eventually(async () => {
    const { windows } = JSON.parse(as("leader", "task", "show", "shared", "--json").stdout) as {
      windows: { window: number; state: string }[];
    };
    const open = windows.find(({ state }) => state === "open")?.window;
    return withNext && !windows.some(({ window }) => window - 1 === open) ? undefined : open;
  });
}

/** As an analyst, who is neither. */
function collect(...args: string[]) {
  const servers = ["--leader", urlOf("leader"), "--helper", urlOf("helper"), "--task", "shared"];
  return lethe("collect", ...servers, ...args);
}

const pinned = (): string[] => ["--leader-key", keys.leader, "--helper-key", keys.helper];

describe("lethe key", () => {
  it("makes the key file that lethe serve then uses, and tells the operator key", () => {
    expect(keys.leader).toMatch(/^ed25519:[\w-]{43}$/);
    expect(keys.helper).not.toBe(keys.leader);
    expect(services.leader?.operatorKey).toBe(keys.leader);
    expect(services.helper?.operatorKey).toBe(keys.helper);
    const made = letheWith({ cwd: folder, env: { LETHE_KEY_FILE: "third.keys" } }, "key", "--json");
    expect(JSON.parse(made.stdout)).toEqual({
      operatorKey: expect.stringMatching(/^ed25519:/),
      keyFile: join(folder, "third.keys"),
    });
    expect(statSync(join(folder, "third.keys")).mode & 0o777).toBe(0o600);
  });

  it("makes none inside the data folder, nor where data is whose key file is missing", () => {
    const inFolder = (...args: string[]) => letheWith({ cwd: folder }, "key", ...args);
    expect(refusal(inFolder("--data", "new", "--key-file", "new/keys"))).toContain("lies inside the data folder");
    expect(refusal(inFolder("--data", "leader", "--key-file", "lost.keys"))).toContain("is missing: restore it");
  });
});

describe("lethe serve --role leader and helper", () => {
  it("tell their role and the other", () => {
    expect(services.leader).toMatchObject({
      role: "leader",
      peer: { url: urlOf("helper"), operatorKey: keys.helper },
      data: join(folder, "leader"),
    });
    expect(services.helper).toMatchObject({ role: "helper", peer: { operatorKey: keys.leader } });
    expect(JSON.stringify(services)).not.toContain(SECRET.LETHE_PEER_SECRET);
  });

  it("name what is missing or too much, and what to do", () => {
    const KEY = keys.helper;
    const { LETHE_PEER_SECRET: secret } = SECRET;
    for (const [message, options, env] of [
      ["--peer is missing: the address of the helper", { role: "leader" }, secret],
      ["--peer-key is missing: the helper's operator key", { role: "leader", peer: "http://127.0.0.1:1" }, secret],
      ["--peer-key is missing: the leader's operator key", { role: "helper" }, secret],
      ["is missing: set LETHE_PEER_SECRET", { role: "helper", peerKey: KEY }, undefined],
      ["at least 32 characters", { role: "helper", peerKey: KEY }, "too short"],
      ["--peer is for --role leader only", { role: "helper", peer: "http://127.0.0.1:1", peerKey: KEY }, secret],
      ["--peer-key is for --role leader and --role helper only", { role: "all", peerKey: KEY }, undefined],
    ] as [string, Parameters<typeof peerOf>[0], string | undefined][]) {
      vi.stubEnv("LETHE_PEER_SECRET", env);
      expect(() => peerOf(options)).toThrow(message);
    }
    vi.stubEnv("LETHE_PEER_SECRET", secret);
    expect(peerOf({ role: "helper", peerKey: KEY })).toEqual({ operatorKey: KEY, secret });
    expect(peerOf({ role: "tally" })).toBeUndefined();
    vi.unstubAllEnvs();
  });
});

describe("a task of two servers", () => {
  it("is not made before the helper has agreed to it, and not if it says something else", () => {
    expect(refusal(as("leader", "task", "create", "task.json"))).toContain("has not agreed to version 1 of shared");
    const agreed = as("helper", "task", "agree", "task.json");
    expect(agreed).toMatchObject({ status: 0, stderr: "" });
    // What this helper runs in development, and not what is in the file.
    expect(agreed.stdout).toContain(
      "shared, version 1: agreed to, like this\nwindow of 5 seconds: 5 ticks of 1 second",
    );
    expect(agreed.stdout).toContain(
      "\nnote: this service is for development: windows of 5 seconds, grace 5 seconds, at least 4 devices\n",
    );
    expect(agreed.stdout).toContain("crashed  occurrence  sigma 0.15, of each server");
    expect(JSON.parse(as("helper", "task", "agree", "task.json", "--json").stdout)).toEqual({
      agreed: true,
      task: "shared",
      version: 1,
      terms: {
        ...TASK,
        collusion: "none",
        hides: 1000,
        missing: 0,
        tickSeconds: 1,
        graceSeconds: 5,
        metrics: expect.any(Array),
      },
    });
    expect(as("helper", "task", "list").stdout).toContain("\nshared, version 1: agreed, not created yet\n");
    const other = write("other.json", { ...TASK, minimumDevices: 3 });
    expect(refusal(as("leader", "task", "create", other))).toContain(
      "that says something else: minimumDevices is 4 at the helper and 3 at the leader",
    );
    expect(refusal(as("helper", "task", "agree", other))).toContain("was agreed to before and says something else");
    const taken = write("taken.json", { ...TASK, task: "taken" });
    expect(as("helper", "task", "agree", taken).status).toBe(0);
    expect(as("helper", "task", "agree", taken, "--withdraw").stdout).toContain(
      "taken, version 1: no longer agreed to",
    );
    expect(refusal(as("leader", "task", "create", taken))).toContain("has not agreed to version 1 of taken");
  });

  it("is agreed to at the helper, and made at the leader, by who has its token", () => {
    expect(refusal(as("leader", "task", "agree", "task.json"))).toContain("is not a helper");
    expect(refusal(as("helper", "task", "create", "task.json"))).toContain("lethe task agree");
    const one = write("one.json", { ...TASK, mode: "one-server", metrics: TASK.metrics.slice(0, 1) });
    expect(refusal(as("helper", "task", "agree", one))).toContain("mode is two-server");
    const token = { LETHE_ADMIN_TOKEN: "a-token-of-somebody-else" };
    const args = ["task", "agree", "task.json", "--server", urlOf("helper")];
    expect(refusal(letheWith({ cwd: folder, env: token }, ...args))).toContain("refuses this admin token");
  });

  it("is made, and names both servers", () => {
    const created = as("leader", "task", "create", "task.json");
    expect(created).toMatchObject({ status: 0, stderr: "" });
    for (const line of [
      `devices use    ${urlOf("leader")}`,
      `operator key   ${keys.leader}`,
      `helper         ${urlOf("helper")}`,
      `helper key     ${keys.helper}`,
    ]) {
      expect(created.stdout).toContain(`${line}\n`);
    }
    const snippet = as("leader", "task", "snippet", "shared").stdout;
    expect(snippet).toContain(`operatorKey: "${keys.leader}",\n  helperKey: "${keys.helper}",`);
    expect(refusal(as("helper", "task", "snippet", "shared"))).toContain("ask a process that answers devices");
    expect(as("helper", "task", "show", "shared").stdout).toContain(`lethe collect --leader ${urlOf("leader")} `);
  });

  it("has its price, its names and its description like others", () => {
    const run = (...args: string[]) => letheWith({ cwd: folder }, ...args);
    const { metrics } = JSON.parse(run("plan", "--task", "task.json", "--json").stdout) as {
      metrics: { name: string; noise: string }[];
    };
    expect(metrics.map(({ name, noise }) => `${name} ${noise}`)).toEqual([
      "opened device",
      "crashed servers",
      "average servers",
    ]);
    expect(run("plan", "--task", "task.json").stdout).toMatch(/\na device pays +to the servers: local ε /);
    expect(run("task", "check", "task.json").stdout).toContain("\naverage  mean        sigma 0.1, of each server\n");
    expect(run("task", "types", "task.json").stdout).toContain('  "crashed",\n');
  });

  it("has no results at either server, which say where they are", () => {
    const command = `npx lethe collect --leader ${urlOf("leader")} --helper ${urlOf("helper")} --task shared --leader-key ed25519:… --helper-key ed25519:…`;
    for (const [args, end] of [
      [[], ""],
      [["--wait", "--json"], ""],
      [["--window", "7"], " --window 7 --wait"],
    ] as const) {
      expect(refusal(as("helper", "results", "shared", ...args))).toBe(
        `shared is counted by two servers, and neither has results alone: ${command}${end}`,
      );
    }
  });
});

describe("lethe collect", () => {
  it("says in one line that a window is not finished, or had too few reports", async () => {
    const open = await openWindow();
    // Later than any that ends while this test runs.
    const pending = collect("--window", `${open + 1000}`, "--json");
    expect(pending.status).toBe(2);
    expect(pending.stderr).toMatch(/^error: window \d+ of shared .*: wait for it with --wait\n$/);
    expect(JSON.parse(pending.stdout)).toMatchObject({ status: "pending", task: "shared" });
    // Unless it has ended by itself, which comes to the same: nobody reports in it.
    as("leader", "task", "close", "shared", `${open}`);
    const withheld = collect("--window", `${open}`, "--wait", "--json");
    expect(withheld.status).toBe(2);
    expect(withheld.stderr).toMatch(/error: window \d+ of shared: not enough, 4 more: nothing is released[^\n]*\n$/);
    expect(JSON.parse(withheld.stdout)).toMatchObject({ status: "not-enough", missing: 4 });
  });

  let window: number;
  it("adds both shares up to results near the truth", () => {
    const fleet = ["--server", urlOf("leader"), "--task", "shared", "--devices", `${DEVICES}`, "--rate", "0.3"];
    const simulated = simulateInTime(() => lethe("simulate", ...fleet, "--json"));
    expect({ status: simulated.status, stderr: simulated.stderr }).toMatchObject({ status: 0 });
    const result = JSON.parse(simulated.stdout) as { window: number; truth: { truth: number }[] };
    window = result.window;
    as("leader", "task", "close", "shared", `${window}`);
    const { status, stdout, stderr } = collect("--window", `${window}`, "--wait", "--json", ...pinned());
    expect({ status, stderr: stderr.replaceAll(/^window \d+ of shared .*\n/gm, "") }).toEqual({
      status: 0,
      stderr: "",
    });
    const release = JSON.parse(stdout) as Release;
    expect(release).toMatchObject({ status: "released", window, received: DEVICES, enrolled: DEVICES });
    expect(release.metrics.map(({ name }) => name)).toEqual(["opened", "crashed", "average"]);
    for (const [i, { estimate, standardError }] of (release.metrics as unknown as Figure[]).entries()) {
      // Unseeded. One of five devices lies with probability 1e-8 at ε = 20, and then the first figure is off by one. The
      // noise of both servers, whose σ is 0.15 and 0.2, adds up to two or more with probability 1e-9.
      expect(Math.abs(estimate - (result.truth[i]?.truth as number))).toBeLessThan(6 * standardError);
    }
  });

  it("prints them as lethe results does, and notes keys that were not given", () => {
    const { status, stdout, stderr } = collect("--helper-key", keys.helper);
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: `note: you gave no --leader-key, so the manifest's key is believed: --leader-key ${keys.leader}\n`,
    });
    expect(stdout).toMatch(new RegExp(`^shared version 1, window ${window}: .* UTC, released `));
    expect(stdout).toMatch(/\ncrashed +occurrence .* \(δ 1e-6\) +[\d.]+ \(δ 1e-6\)\n/);
    expect(stdout).toContain("to the servers: local");
    expect(stdout).toContain("if at least 4 reports are honest, and one of the servers\n");
    const csv = collect("--window", `${window}`, "--csv", ...pinned());
    expect(csv.stdout.split("\r\n").map((row) => row.split(",")[6])).toEqual([
      ...["metric", "opened", "crashed", "average"],
      undefined,
    ]);
    // Noise of the servers is Gaussian: its local ε has a δ.
    expect(csv.stdout.split("\r\n").map((row) => row.split(",")[15])).toEqual([
      ...["local_delta", "0", "0.000001", "0.000001"],
      undefined,
    ]);
  });

  it("--last draws the figures of both servers together over the last windows", () => {
    const { windows } = JSON.parse(collect("--last", "100", "--json", ...pinned()).stdout) as {
      windows: { window: number; status: string }[];
    };
    const one = windows.find((each) => each.window === window);
    expect(one).toEqual(JSON.parse(collect("--window", `${window}`, "--json", ...pinned()).stdout));
    const { stdout, stderr } = collect("--last", "100");
    expect(stderr.split("\n").length).toBe(3);
    expect(stdout).toMatch(/^shared, windows \d+ to \d+: .* UTC\n\d+ released/);
    expect(stdout).toMatch(/\n\naverage \(mean\)\n/);
    expect(stdout).toMatch(new RegExp(`\n${window} .* │.*●`));
  });

  it("prices a release at what the operator vouches for, however many reports both servers counted", async () => {
    const servers = {
      leader: urlOf("leader"),
      helper: urlOf("helper"),
      leaderKey: keys.leader,
      helperKey: keys.helper,
    };
    const shares = {
      leader: ((await fetchRelease(servers.leader, "shared", window)) as ServerShare).signed,
      helper: ((await fetchRelease(servers.helper, "shared", window)) as ServerShare).signed,
    };
    const withReports = (received: number): Promise<Release> => {
      const [leader, helper] = (["leader", "helper"] as const).map((side) => {
        const document = shares[side].document.replace(`"received":${DEVICES}`, `"received":${received}`);
        return { ...shares[side], document, signature: signAs(side, document) };
      });
      return assemble(servers, "shared", window, leader as SignedShare, helper as SignedShare);
    };
    const few = await withReports(DEVICES);
    const many = await withReports(1000 * DEVICES);
    expect([few.received, many.received]).toEqual([DEVICES, 1000 * DEVICES]);
    expect(few.privacy.honest).toBe(4);
    expect(many.privacy).toEqual(few.privacy);
    expect(many.metrics.map(({ epsilon }) => epsilon)).toEqual(few.metrics.map(({ epsilon }) => epsilon));
  });

  it("refuses servers that were swapped", () => {
    const swapped = ["--leader", urlOf("helper"), "--helper", urlOf("leader"), "--window", `${window}`];
    const refused = refusal(lethe("collect", ...swapped, "--task", "shared", ...pinned()));
    expect(refused).toContain("the share is not signed by the leader");
  });

  it("refuses other servers' shares, those that were changed, and those that do not belong together though both are signed", async () => {
    const shareOf = async (side: Side): Promise<SignedShare> =>
      ((await fetchRelease(urlOf(side), "shared", window)) as ServerShare).signed;
    const leader = await shareOf("leader");
    const helper = await shareOf("helper");
    const servers = {
      leader: urlOf("leader"),
      helper: urlOf("helper"),
      leaderKey: keys.leader,
      helperKey: keys.helper,
    };
    const add = (second: SignedShare) => assemble(servers, "shared", window, leader, second);
    expect(await add(helper)).toMatchObject({ status: "released", received: DEVICES });
    for (const key of ["leaderKey", "helperKey"] as const) {
      const others = { ...servers, [key]: key === "leaderKey" ? keys.helper : keys.leader };
      await expect(assemble(others, "shared", window, leader, helper)).rejects.toMatchObject({ code: "bad-signature" });
    }
    const changed = (from: string, to: string): string => helper.document.replace(from, to);
    const more = changed(`"received":${DEVICES}`, `"received":${DEVICES + 1}`);
    expect(more).not.toBe(helper.document);
    await expect(add({ ...helper, document: more })).rejects.toMatchObject({ code: "bad-signature" });
    for (const document of [
      more,
      changed(`"window":${window}`, `"window":${window - 1}`),
      changed('"version":1', '"version":2'),
      changed(/"reports":"(.{4})/.exec(helper.document)?.[1] as string, "AAAA"),
      changed('"role":"helper"', '"role":"leader"'),
    ]) {
      await expect(add({ ...helper, document, signature: signAs("helper", document) })).rejects.toMatchObject({
        code: "bad-share",
      });
    }
  });
});

/** As an operator could, who has the key file. */
function signAs(side: Side, document: string): Uint8Array {
  const { operator } = JSON.parse(readFileSync(join(folder, `${side}.keys`), "utf8")) as { operator: string };
  const x = keys[side].slice("ed25519:".length);
  const key = createPrivateKey({ key: { kty: "OKP", crv: "Ed25519", d: operator, x }, format: "jwk" });
  return new Uint8Array(sign(null, Buffer.from(document), key));
}

describe("a helper that is not there", () => {
  it("or does not know the leader's secret, keeps a task from being made, which is told in one line", async () => {
    const { port } = new URL(urlOf("helper"));
    // Without the helper no further window is made, and two are to wait for it.
    const running = await openWindow({ withNext: true });
    await kill("helper");
    const file = write("second.json", { ...TASK, task: "second" });
    expect(refusal(as("leader", "task", "create", file))).toContain("the helper does not answer");
    expect(refusal(collect("--task", "shared"))).toContain("no service answers at");
    expect(collect("--window", `${running}`).stderr).toContain(
      `; the helper at ${urlOf("helper")} does not answer: wait`,
    );
    // What is over waits for the helper, however many windows ago.
    await eventually(async () => {
      const { stdout } = as("leader", "task", "show", "shared");
      const closed = Array.from(stdout.matchAll(/\n(\d+) +closed /g), ([, window]) => Number(window));
      return closed.length > 1 && closed.includes(running) ? closed : undefined;
    });
    const serve = (...args: string[]) =>
      letheWith({ cwd: folder, env: SECRET }, "serve", "--role", "helper", "--data", "helper", "--port", "0", ...args);
    expect(refusal(serve("--peer-key", keys.leader))).toContain("version 1 of shared was made with --dev");
    const stranger = `ed25519:${"A".repeat(43)}`;
    expect(serve("--dev", "--peer-key", stranger).stderr).toContain(
      `error: task shared was signed by the leader key ${keys.leader}, and --peer-key says ${stranger}: is that the leader's`,
    );
    const wrong = { LETHE_PEER_SECRET: "another secret than the leader has been given" };
    await start("helper", wrong, "--peer-key", keys.leader, "--port", port);
    expect(as("helper", "task", "agree", file).status).toBe(0);
    expect(refusal(as("leader", "task", "create", file))).toContain("does not take this leader's secret");
  });
});
