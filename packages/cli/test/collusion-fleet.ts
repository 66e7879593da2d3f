import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Release } from "@lethe/core/message";
import { expect } from "vitest";
import { letheWith, type RunningService, startService } from "./lethe.ts";

const SECRET = { LETHE_PEER_SECRET: "a secret of leader and helper, and of nobody else" };
/** Answers with noise that shows, over two months, so that nothing happens by the clock. */
const TASK = {
  version: 1,
  task: "guarded",
  tickSeconds: 604_800,
  ticks: 8,
  graceSeconds: 0,
  mode: "two-server",
  collusion: "one-server",
  minimumDevices: 20,
  metrics: [
    { name: "opened", statistic: "occurrence", localEpsilon: 2 },
    { name: "clicks", statistic: "histogram", edges: [0, 1, 2], localEpsilon: 2 },
    { name: "format", statistic: "choice", options: ["pdf", "png"], keep: "last", localEpsilon: 2 },
    { name: "checkout", statistic: "funnel", steps: ["cart", "paid"], localEpsilon: 2 },
  ],
};

interface Told {
  readonly name: string;
  readonly estimate: number;
  readonly standardError: number;
  readonly truth: number;
}

/** What the release says of a fleet of real devices beside what happened on them, all over HTTP. */
export interface FleetRelease {
  readonly figures: readonly Told[];
  readonly received: number;
  /** The shares that both servers published. */
  readonly shares: readonly string[];
  /** The plan's standard error of each metric's empty figure. */
  readonly planned: Readonly<Record<string, number>>;
}

/**
 * Devices with the SDK, a leader and a helper as processes with `lethe serve`: what operators and analysts type, from the
 * task file to the release, for a task with `collusion: "one-server"`.
 */
export async function releaseOfGuardedFleet(devices: number): Promise<FleetRelease> {
  const folder = mkdtempSync(join(tmpdir(), "lethe-guarded-"));
  const services: RunningService[] = [];
  const run = (side: string, url: string, ...args: string[]): string => {
    const env = { LETHE_DATA: side, LETHE_SERVER: url };
    const { status, stdout, stderr } = letheWith({ cwd: folder, env }, ...args);
    expect({ args, status, stderr: status === 0 ? "" : stderr }).toEqual({ args, status: 0, stderr: "" });
    return stdout;
  };
  const nowhere = "http://127.0.0.1:1";
  try {
    writeFileSync(join(folder, "task.json"), JSON.stringify(TASK));
    const [leaderKey, helperKey] = ["leader", "helper"].map((side) => run(side, nowhere, "key").trim()) as [
      string,
      string,
    ];
    const serve = async (side: string, ...args: string[]): Promise<string> => {
      const own = ["--role", side, "--data", side, "--keys-ahead", `${devices}`, "--threads", "1", ...args];
      const service = await startService({ cwd: folder, env: SECRET, windows: "as the task says" }, ...own);
      services.push(service);
      return service.url;
    };
    const helper = await serve("helper", "--peer-key", leaderKey);
    const leader = await serve("leader", "--peer", helper, "--peer-key", helperKey);
    run("helper", helper, "task", "agree", "task.json");
    run("leader", leader, "task", "create", "task.json");
    const fleet = ["simulate", "--server", leader, "--task", TASK.task, "--devices", `${devices}`, "--rate", "0.4"];
    const { window, truth } = JSON.parse(run("leader", leader, ...fleet, "--json")) as {
      window: number;
      truth: readonly { name: string; truth: number }[];
    };
    run("leader", leader, "task", "close", TASK.task, `${window}`);
    const servers = ["--leader", leader, "--helper", helper, "--leader-key", leaderKey, "--helper-key", helperKey];
    const collect = ["collect", ...servers, "--task", TASK.task, "--window", `${window}`, "--wait", "--json"];
    const release = JSON.parse(run("leader", leader, ...collect)) as Release;
    const plan = JSON.parse(
      run("leader", leader, "plan", "--task", "task.json", "--devices", `${devices}`, "--json"),
    ) as {
      metrics: readonly { name: string; standardError: number }[];
    };
    const shares = await Promise.all(
      [leader, helper].map(async (url) => {
        const response = await fetch(`${url}/v1/tasks/${TASK.task}/releases/${window}`);
        const { document } = (await response.json()) as { document: string };
        return (JSON.parse(document) as { share: string }).share;
      }),
    );
    const figures = release.metrics
      .flatMap((metric) =>
        ("buckets" in metric ? metric.buckets : [metric]).map((figure) => ({ name: metric.name, ...figure })),
      )
      .map(({ name, estimate, standardError }, i) => {
        expect(truth[i]?.name).toBe(name);
        return { name, estimate, standardError, truth: truth[i]?.truth as number };
      });
    const planned = Object.fromEntries(plan.metrics.map(({ name, standardError }) => [name, standardError]));
    return { figures, received: release.received, shares, planned };
  } finally {
    for (const service of services) {
      service.process.kill("SIGKILL");
      await service.ended;
    }
    rmSync(folder, { recursive: true });
  }
}

/**
 * A release of as many reports as devices, of which both servers published the same share, with every figure within this
 * number of the planned standard errors of an empty category. A category's own coins have up to 1.33 times that
 * deviation, so by Bernstein's inequality ten figures are all within 12 of them for 40 devices, and within 10 for 300,
 * but for 2·10⁻⁷.
 */
export function expectWithinTheory(
  { figures, received, shares, planned }: FleetRelease,
  devices: number,
  errors: number,
): void {
  expect(received).toBe(devices);
  expect(shares[0]).toBe(shares[1]);
  expect(shares[0]).toMatch(/^[\w-]{100,}$/);
  expect(figures).toHaveLength(10);
  for (const { name, estimate, truth } of figures) {
    expect(Math.abs(estimate - truth)).toBeLessThan(errors * (planned[name] as number));
  }
}
