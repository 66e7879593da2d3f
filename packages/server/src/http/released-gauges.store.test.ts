import {
  type Figure,
  figuresOf,
  type Release,
  summaryOf,
  type Task,
  windowAt,
  windowSeconds,
} from "@lethe/core/message";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { enrol, fetchTask, reportOf, upload } from "../../test/device.ts";
import { eventually } from "../../test/eventually.ts";
import {
  asAdmin,
  closeByHand,
  createTask,
  EXACT_TASK,
  startTestService,
  type TestService,
} from "../../test/service.ts";
import { documentOf } from "../../test/two-servers.ts";
import { createReleasedGauges } from "./released-gauges.ts";

const TASK: Task = {
  ...EXACT_TASK,
  minimumDevices: 2,
  groups: ["stable", "beta"],
  metrics: [
    { name: "happened", statistic: "occurrence", localEpsilon: 3 },
    { name: "times", statistic: "histogram", edges: [0, 1, 2], localEpsilon: 3 },
    { name: "average", statistic: "mean", limit: 3, sigma: 1 },
  ],
};

/** The gauges as text, once this one is among them. */
const gaugesOf = (service: TestService, line: string, init: RequestInit = {}): Promise<string> =>
  eventually(async () => {
    const text = await (await fetch(`${service.url}/metrics`, init)).text();
    return text.includes(line) ? text : undefined;
  });

const valuesOf = (text: string, name: string): Map<string, number> =>
  new Map(
    [...text.matchAll(new RegExp(`^${name}\\{(.*)\\} (.*)$`, "gm"))].map(([, labels = "", value = ""]) => [
      labels,
      value === "+Inf" ? Number.POSITIVE_INFINITY : Number(value),
    ]),
  );

/** Every figure of a release, under the labels that it has. */
function figuresIn(release: Release): Map<string, Figure> {
  const all = new Map<string, Figure>();
  const parts = [{ group: "", metrics: release.metrics }, ...(release.groups ?? [])];
  for (const part of parts) {
    for (const metric of "metrics" in part ? part.metrics : []) {
      const named = [{ kind: metric.statistic as string, figures: figuresOf(metric) }];
      for (const [field, figures] of Object.entries(summaryOf(metric))) {
        named.push({ kind: `${metric.statistic}.${field}`, figures });
      }
      for (const { kind, figures } of named) {
        for (const { label = "", figure } of figures) {
          const own = `task="${release.task}",metric="${metric.name}",statistic="${kind}"`;
          all.set(`${own},bucket="${label}",group="${part.group}"`, figure);
        }
      }
    }
  }
  return all;
}

describe("the gauges of released figures", () => {
  let service: TestService;
  let window: number;
  beforeAll(async () => {
    service = await startTestService();
    await createTask(service, TASK);
    window = windowAt(TASK, service.clock() / 1000);
  });
  afterAll(() => service?.remove());

  /** Closes a window in which so many devices of each group reported. */
  async function finish(number: number, devices: number): Promise<string> {
    const task = await fetchTask(service, TASK.task);
    service.clock.advance(Math.max(0, number * windowSeconds(TASK) - service.clock() / 1000));
    for (const group of TASK.groups ?? []) {
      for (let i = 0; i < devices; i++) {
        const device = await enrol(service, task, number, {}, group);
        expect((await upload(service, device, reportOf(device, "happened", "times"))).status).toBe(201);
      }
    }
    await closeByHand(service, TASK.task, number);
    return documentOf(service, TASK.task, number);
  }

  it("equal the release document, with standard errors, and show the newest window only", async () => {
    expect(await (await fetch(`${service.url}/metrics`)).text()).not.toContain("lethe_released_");
    for (const number of [window, window + 1]) {
      const release = JSON.parse(await finish(number, 2)) as Release;
      const text = await gaugesOf(service, `lethe_released_window{task="exact",outcome="released"} ${number}\n`);
      const figures = figuresIn(release);
      expect(figures.size).toBeGreaterThan(12);
      const read = (name: "estimate" | "standardError") =>
        new Map([...figures].map(([key, figure]) => [key, figure[name]]));
      expect(valuesOf(text, "lethe_released_estimate")).toEqual(read("estimate"));
      expect(valuesOf(text, "lethe_released_standard_error")).toEqual(read("standardError"));
      const of = (name: string, labels = "") => valuesOf(text, name).get(`task="exact"${labels}`);
      expect(of("lethe_released_devices")).toBe(release.devices);
      expect(of("lethe_released_end_seconds")).toBe(release.to);
      expect(of("lethe_released_omitted")).toBe(0);
      expect(of("lethe_released_epsilon", ',kind="local"')).toBe(release.privacy.local.epsilon);
      expect(of("lethe_released_epsilon", ',kind="aggregate"')).toBe(release.privacy.aggregate.epsilon);
      expect(of("lethe_released_epsilon", ',kind="hijacked"')).toBe(release.privacy.hijackedEpsilon ?? Infinity);
    }
  });

  it("are for the admin alone if results are private; everything else is not", async () => {
    await service.restart({ privateResults: true });
    const admin = await eventually(async () => {
      const text = await (await asAdmin(service, "/metrics")).text();
      return text.includes("lethe_released_estimate{") ? text : undefined;
    });
    expect(valuesOf(admin, "lethe_released_estimate").size).toBeGreaterThan(12);
    for (const headers of [{}, { authorization: "Bearer a-wrong-token-of-nobody" }]) {
      const response = await fetch(`${service.url}/metrics`, { headers });
      const text = await response.text();
      expect(response.status).toBe(200);
      expect(text).toContain("lethe_windows_overdue 0");
      expect(text).not.toContain("lethe_released_");
    }
    await service.restart({ privateResults: false });
  });

  it("end when the newest window has no figures: an old figure never passes for a new one", async () => {
    await finish(window + 2, 1);
    const text = await gaugesOf(service, `lethe_released_window{task="exact",outcome="not-enough"} ${window + 2}\n`);
    expect(text).not.toContain("lethe_released_estimate{");
    expect(text).not.toContain('outcome="released"} 1\n#');
    expect(valuesOf(text, "lethe_released_window").size).toBe(1);
  });

  it("are at most 1,000 per task, and say how many are not there; labels are escaped", async () => {
    const figure = { estimate: 1, standardError: 2, interval: [0, 1], consistent: 1 };
    const metrics = Array.from({ length: 1200 }, (_, i) => ({
      name: `a"\\\n${i}`,
      statistic: "occurrence",
      ...figure,
    }));
    const privacy = { local: { epsilon: 1 }, aggregate: { epsilon: 1 }, hijackedEpsilon: null };
    const document = { status: "released", task: "many", window: 1, to: 2, received: 3, metrics, privacy };
    await service.stop();
    const database = await service.openDatabase();
    await database.query(
      "INSERT INTO tasks (name, version, from_window, manifest, signature) VALUES ('many', 1, 1, '', ''::bytea)",
    );
    await database.query("INSERT INTO releases (name, number, document) VALUES ($1, $2, $3)", [
      ...["many", 1, JSON.stringify(document)],
    ]);
    const text = await createReleasedGauges(database as never).text(5000);
    await database.query("DELETE FROM tasks WHERE name = 'many'");
    await database.close();
    expect(text.match(/^lethe_released_estimate\{task="many"/gm)?.length).toBe(1000);
    expect(text.match(/^lethe_released_standard_error\{task="many"/gm)?.length).toBe(1000);
    expect(text).toContain('lethe_released_omitted{task="many"} 200\n');
    expect(text).toContain('metric="a\\"\\\\\\n7"');
    expect(text).toContain('lethe_released_epsilon{task="many",kind="hijacked"} +Inf\n');
  });
});
