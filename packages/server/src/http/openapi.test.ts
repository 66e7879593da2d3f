import { randomBytes } from "node:crypto";
import { encodeBase64url, encodeReport, isProblemCode, PROBLEMS, parseTask, windowAt } from "@lethe/core/message";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Device, enrolMany, fetchTask, type KnownTask, reportOf, upload } from "../../test/device.ts";
import { eventually } from "../../test/eventually.ts";
import {
  ADMIN_TOKEN,
  closeByHand,
  createTask,
  EXACT_TASK,
  startTestService,
  type TestService,
} from "../../test/service.ts";
import * as schemas from "./schemas.ts";

interface Operation {
  readonly summary: string;
  readonly parameters?: readonly { name: string; in: string; required: boolean; schema: object }[];
  readonly requestBody?: { required: boolean; content: Record<string, { schema: object }> };
  readonly security?: readonly object[];
  readonly responses: Readonly<Record<string, { description: string; content?: Record<string, { schema: object }> }>>;
}

interface Description {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Record<string, object>; readonly securitySchemes: Record<string, object> };
}

let service: TestService;
let description: Description;
let window: number;

beforeAll(async () => {
  service = await startTestService({}, { invalidNoise: () => 7, pollMilliseconds: 50 });
  description = (await (await fetch(`${service.url}/openapi.json`)).json()) as Description;
  window = windowAt(EXACT_TASK, service.clock() / 1000);
});

afterAll(async () => {
  await service?.remove();
});

function operations(): { path: string; method: string; operation: Operation }[] {
  return Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
}

describe("the description", () => {
  it("has exactly the endpoints of the design", () => {
    expect(operations().map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /v1/tasks/{task}",
      "POST /v1/tasks/{task}/windows/{window}/devices",
      "PUT /v1/tasks/{task}/windows/{window}/reports/{device}",
      "GET /v1/tasks/{task}/releases",
      "GET /v1/tasks/{task}/releases/{window}",
      "GET /v1/tasks/{task}/windows/{window}",
      "GET /v1/tasks",
      "POST /v1/tasks",
      "POST /v1/tasks/{task}/windows/{window}/close",
      "GET /v1/console",
      "GET /v1/operations",
    ]);
  });

  it("is OpenAPI 3.1: parameters fit the paths, answers are described, references lead somewhere", () => {
    expect(description.openapi).toBe("3.1.0");
    expect(description.info).toMatchObject({ title: "Lethe", version: expect.stringMatching(/^\d+\.\d+\.\d+$/) });
    for (const { path, operation } of operations()) {
      expect(operation.summary).not.toBe("");
      const { parameters = [] } = operation;
      const inPath = parameters.filter((parameter) => parameter.in === "path");
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      expect(inPath.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
      for (const { name, in: place, required, schema } of parameters) {
        expect(["path", "query"]).toContain(place);
        expect({ name, required }).toEqual({ name, required: place === "path" });
        expect(schema).toMatchObject({ type: "string" });
      }
      const statuses = Object.keys(operation.responses);
      expect(statuses.some((status) => status.startsWith("2"))).toBe(true);
      for (const [status, response] of Object.entries(operation.responses)) {
        expect(status).toMatch(/^[1-5]\d\d$/);
        expect(response.description).not.toBe("");
      }
    }
    for (const [, reference = ""] of JSON.stringify(description).matchAll(/"\$ref":"([^"]*)"/g)) {
      const found = reference
        .replace(/^#\//, "")
        .split("/")
        .reduce((at: unknown, key) => (at as Record<string, unknown>)?.[key], description);
      expect({ reference, found: typeof found }).toEqual({ reference, found: "object" });
    }
  });

  it("asks for a token where one is needed", () => {
    for (const { path, method, operation } of operations()) {
      const needed = ["/v1/tasks", "/v1/operations"].includes(path) || path.endsWith("/close") || method === "PUT";
      if (needed) expect(operation.security).toEqual([{ bearer: [] }]);
      // Whether enrolling takes one is up to the operator.
      else if (!path.endsWith("/devices")) expect(operation.security).toBeUndefined();
    }
    expect(description.components.securitySchemes).toEqual({ bearer: { type: "http", scheme: "bearer" } });
  });

  it("tells every refusal of the one table, with its status and as problem+json", () => {
    const told = new Set<string>();
    for (const { operation } of operations()) {
      for (const [status, { description: text, content }] of Object.entries(operation.responses)) {
        if (Number(status) < 400) continue;
        expect(Object.keys(content ?? {})).toEqual(["application/problem+json"]);
        for (const code of text.split("; ").map((part) => part.slice(0, part.indexOf(":")))) {
          if (!isProblemCode(code)) throw new TypeError(`${code} is not in the table`);
          expect(PROBLEMS[code].status).toBe(Number(status));
          told.add(code);
        }
      }
    }
    expect([...told].toSorted()).toEqual(Object.keys(PROBLEMS).toSorted());
  });
});

describe("beside the API", () => {
  it("the service says that it lives and that it is ready, and reports its metrics", async () => {
    const [health, ready, metrics] = await Promise.all(
      ["healthz", "readyz", "metrics"].map((path) => fetch(`${service.url}/${path}`)),
    );
    expect([health?.status, await health?.text()]).toEqual([200, "ok\n"]);
    expect([ready?.status, await ready?.text()]).toEqual([200, "ready\n"]);
    expect(metrics?.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    const text = (await metrics?.text()) ?? "";
    for (const name of [
      "lethe_request_seconds",
      "lethe_refusals_total",
      "lethe_enrolments_total",
      "lethe_reports_total",
    ]) {
      expect(text).toContain(`# TYPE ${name} `);
    }
  });
});

describe("whether a report was valid", () => {
  /** Everything that anybody is told, by walking the description; the task's name is blotted out. */
  async function everythingTold(task: KnownTask, devices: readonly Device[]): Promise<Record<string, unknown>> {
    const told: Record<string, unknown> = {};
    for (const { method, path, operation } of operations()) {
      if (method === "POST" && path === "/v1/tasks") continue;
      if (path.endsWith("/close") || path.endsWith("/devices")) continue;
      for (const [i, device] of devices.entries()) {
        const filled = path
          .replace("{task}", task.name)
          .replace("{window}", String(window))
          .replace("{device}", encodeBase64url(device.id));
        for (const as of ["GET", "HEAD", "OPTIONS", "DELETE", method]) {
          if (as === "PUT") continue;
          const headers = operation.security ? { authorization: `Bearer ${ADMIN_TOKEN}` } : {};
          const response = await fetch(service.url + filled, { method: as, headers });
          const text = (await response.text()).replaceAll(task.name, "TASK").replace(/"signature":"[^"]*"/, "");
          told[`${as} ${path} ${i}`] = [response.status, text];
        }
      }
    }
    return told;
  }

  /** Three devices report, the last of them as told; what each was answered. */
  async function report(
    name: string,
    last: (device: Device) => Uint8Array,
  ): Promise<{ task: KnownTask; devices: Device[]; answers: unknown[] }> {
    await createTask(service, { ...EXACT_TASK, task: name });
    const task = await fetchTask(service, name);
    const devices = await enrolMany(service, task, window, 3);
    const answers: unknown[] = [];
    for (const [i, device] of devices.entries()) {
      const body = i < 2 ? reportOf(device) : last(device);
      // The second time, too, and with other bytes.
      for (const sent of [body, body, reportOf(device)]) {
        const response = await upload(service, device, sent);
        const headers = Object.fromEntries([...response.headers].filter(([header]) => header !== "date"));
        answers.push([response.status, headers, await response.text()]);
      }
    }
    // Refusals are told a moment later.
    await eventually(async () => {
      const status = await (await fetch(`${service.url}/v1/tasks/${name}/windows/${window}`)).json();
      return schemas.windowStatus.parse(status).refused["report-differs"] === devices.length ? true : undefined;
    });
    return { task, devices, answers };
  }

  it("is told by no endpoint, neither before the release nor after, but for the noised count", async () => {
    const garbage = (device: Device): Uint8Array => encodeReport(device.task.hash, [new Uint8Array(randomBytes(64))]);
    const valid = await report("oracle-a", (device) => reportOf(device));
    const invalid = await report("oracle-b", garbage);
    expect(invalid.answers).toEqual(valid.answers);
    const before = await everythingTold(valid.task, valid.devices);
    expect(Object.keys(before).length).toBeGreaterThan(50);
    // What lists all tasks names both; all the others must not differ.
    expect(await everythingTold(invalid.task, invalid.devices)).toEqual(
      Object.fromEntries(
        Object.entries(before).map(([asked, answer]) => [
          asked,
          /^GET \/v1\/(tasks|operations|console) /.test(asked) ? expect.anything() : answer,
        ]),
      ),
    );
    for (const [asked, [status]] of Object.entries(before) as [string, [number]][]) {
      if (asked.includes("/reports/") && !asked.startsWith("OPTIONS"))
        expect({ asked, status }).toEqual({ asked, status: 404 });
    }

    const releases = [];
    for (const { task } of [valid, invalid]) {
      expect((await closeByHand(service, task.name, window)).status).toBe(200);
      releases.push(
        await eventually(async () => {
          const response = await fetch(`${service.url}/v1/tasks/${task.name}/releases/${window}`);
          return response.status === 200 ? schemas.release.parse(await response.json()) : undefined;
        }),
      );
    }
    expect(releases[0]).toMatchObject({ status: "released", received: 3, invalid: { estimate: 7 } });
    const { task, ...rest } = releases[0] as object & { task: string };
    expect(releases[1]).toEqual({
      ...rest,
      task: "oracle-b",
      invalid: { ...(rest as { invalid: object }).invalid, estimate: 8 },
    });
  });

  it("no answer holds a report, or a piece of one", async () => {
    await createTask(service, { ...EXACT_TASK, task: "pieces" });
    const task = await fetchTask(service, "pieces");
    const devices = await enrolMany(service, task, window, 3);
    const reports = devices.map((device) => reportOf(device, "happened"));
    for (const [i, device] of devices.entries()) await upload(service, device, reports[i] as Uint8Array);
    const texts = [
      JSON.stringify(await everythingTold(task, devices)),
      await (await fetch(`${service.url}/metrics`)).text(),
    ];
    for (const sealed of reports.map((bytes) => Buffer.from(bytes.subarray(34)))) {
      for (const piece of [sealed.toString("hex"), sealed.toString("base64url"), sealed.toString("base64")]) {
        for (const text of texts) expect(text).not.toContain(piece.slice(0, 20));
      }
    }
    for (const { id } of devices) for (const text of texts) expect(text).not.toContain(encodeBase64url(id));
  });
});

describe("the schema of a task", () => {
  const common = { version: 1, task: "t", tickSeconds: 1, ticks: 2, graceSeconds: 0, minimumDevices: 1 };
  const occurrence = { name: "a", statistic: "occurrence", localEpsilon: 1 };
  const histogram = { name: "b", statistic: "histogram", edges: [0, 1], localEpsilon: 1 };
  const mean = { name: "c", statistic: "mean", limit: 2, sigma: 2 };
  const counted = { noise: "servers", sigma: 1 };
  const one = { ...common, mode: "one-server" };

  it.each([
    { ...one, metrics: [occurrence, histogram, mean] },
    { ...one, scheme: "lattice", hides: 5, missing: 0.1, metrics: [occurrence, { ...mean, eventsPerTick: 3 }] },
    {
      ...one,
      metrics: [
        { ...occurrence, scheme: "elgamal" },
        { ...histogram, scheme: "elgamal", mechanism: "unary" },
      ],
    },
    { ...one, hides: 5, metrics: [{ ...histogram, scheme: "lattice", eventsPerTick: 2 }] },
    {
      ...common,
      mode: "two-server",
      metrics: [
        { name: "a", statistic: "occurrence", ...counted },
        { name: "b", statistic: "histogram", edges: [0, 1], ...counted },
        mean,
      ],
    },
  ])("has what a task file may have, and what a manifest makes of it: $mode $hides", (task) => {
    expect(schemas.task.parse(task)).toEqual({ hides: 1000, missing: 0, ...task });
    schemas.task.parse(parseTask(JSON.stringify(task)));
  });

  it("is in the description, with its defaults", () => {
    const body = description.paths["/v1/tasks"]?.post?.requestBody?.content["application/json"];
    const schema = body?.schema as { properties: Record<string, object>; required: string[] };
    expect(schema.properties.hides).toMatchObject({ minimum: 0, maximum: 100_000, default: 1000 });
    for (const optional of ["hides", "scheme", "missing"]) expect(schema.required).not.toContain(optional);
    expect(JSON.stringify(schema.properties.metrics)).not.toContain("default");
  });
});

describe("answers match the schemas that describe them", () => {
  it("of a manifest, an enrolment, a window, all tasks", async () => {
    await createTask(service, { ...EXACT_TASK, task: "shapes" });
    const json = async (path: string, init: RequestInit = {}): Promise<unknown> =>
      (await fetch(service.url + path, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` }, ...init })).json();
    schemas.signedManifest.parse(await json("/v1/tasks/shapes"));
    schemas.enrolment.parse(await json(`/v1/tasks/shapes/windows/${window}/devices`, { method: "POST" }));
    schemas.tasks.parse(await json("/v1/tasks"));
    for (const number of [window, window + 1, window + 2, 999_999_999]) {
      schemas.windowStatus.parse(await json(`/v1/tasks/shapes/windows/${number}`));
    }
  });

  it("whatever window is asked for", async () => {
    for (const digits of [10, 11, 12, 13, 14, 15]) {
      const response = await fetch(`${service.url}/v1/tasks/shapes/windows/${"9".repeat(digits)}`);
      if (response.status === 200) schemas.windowStatus.parse(await response.json());
      else schemas.problem.parse(await response.json());
    }
  });
});
