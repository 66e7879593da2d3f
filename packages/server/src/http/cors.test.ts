import { encodeBase64url, windowAt } from "@lethe/core/message";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { enrol, fetchTask, type KnownTask, reportOf, reportPath, uploadHeaders } from "../../test/device.ts";
import { ADMIN_TOKEN, createTask, EXACT_TASK, startTestService, type TestService } from "../../test/service.ts";

const ORIGIN = "https://page.example";

let service: TestService;
let task: KnownTask;
let window: number;

beforeAll(async () => {
  service = await startTestService();
  await createTask(service, EXACT_TASK);
  task = await fetchTask(service, EXACT_TASK.task);
  window = windowAt(EXACT_TASK, service.clock() / 1000);
});

afterAll(async () => {
  await service?.remove();
});

/** Asks as a page of another origin does. */
function ask(method: string, path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(service.url + path, { ...init, method, headers: { origin: ORIGIN, ...(init.headers as object) } });
}

function expectForAll({ headers }: Response): void {
  expect(headers.get("access-control-allow-origin")).toBe("*");
  // A page reads when to ask again.
  expect(headers.get("access-control-expose-headers")).toBe("date, retry-after");
  expect(headers.get("access-control-allow-credentials")).toBeNull();
}

function expectForNone({ headers }: Response): void {
  const names = [...headers.keys()].filter((name) => name.startsWith("access-control-"));
  expect(names).toEqual([]);
}

const ID = encodeBase64url(new Uint8Array(16));
const devicesPath = (): string => `/v1/tasks/${task.name}/windows/${window}/devices`;

describe("what devices ask", () => {
  it("pages of any origin may ask, without credentials", async () => {
    const manifest = await ask("GET", `/v1/tasks/${task.name}`);
    const enrolment = await ask("POST", devicesPath());
    const device = await enrol(service, task, window);
    const body = reportOf(device) as Uint8Array<ArrayBuffer>;
    const report = await ask("PUT", reportPath(device), { headers: uploadHeaders(device), body });
    expect([manifest.status, enrolment.status, report.status]).toEqual([200, 201, 201]);
    for (const response of [manifest, enrolment, report]) expectForAll(response);
  });

  it("they may read every refusal", async () => {
    const put = (id: string, headers: Record<string, string>, body = new Uint8Array(98)) =>
      ask("PUT", `/v1/tasks/${task.name}/windows/${window}/reports/${id}`, { headers, body });
    const refusals = await Promise.all([
      ask("GET", "/v1/tasks/missing"),
      ask("GET", "/v1/tasks/Bad"),
      ask("GET", `/v1/tasks/${task.name}?x=1`),
      ask("POST", `/v1/tasks/${task.name}/windows/${window + 2}/devices`),
      ask("POST", `/v1/tasks/${task.name}/windows/x/devices`),
      ask("POST", devicesPath(), { headers: { "content-type": "text/plain" }, body: "x" }),
      ask("POST", devicesPath(), { headers: { "content-type": "application/json" }, body: "x" }),
      put("x", uploadHeaders({ token: "x" })),
      put(ID, {}),
      put(ID, uploadHeaders({ token: "x" }), new Uint8Array(9)),
      put(ID, uploadHeaders({ token: "x" })),
    ]);
    const statuses = refusals.map(({ status }) => status);
    expect(statuses).toEqual([404, 400, 400, 425, 400, 415, 400, 400, 415, 413, 400]);
    for (const response of refusals) expectForAll(response);
  });

  it("a preflight allows what a device sends, and no cookies", async () => {
    for (const path of [
      `/v1/tasks/${task.name}`,
      devicesPath(),
      `/v1/tasks/${task.name}/windows/${window}/reports/${ID}`,
    ]) {
      const headers = {
        "access-control-request-method": "PUT",
        "access-control-request-headers": "authorization,content-type",
      };
      const response = await ask("OPTIONS", path, { headers });
      expect(response.status).toBe(204);
      expectForAll(response);
      expect(response.headers.get("access-control-allow-methods")?.split(", ")).toEqual(["GET", "POST", "PUT"]);
      expect(response.headers.get("access-control-allow-headers")?.split(", ")).toEqual([
        "authorization",
        "content-type",
      ]);
      expect(Number(response.headers.get("access-control-max-age"))).toBeGreaterThan(0);
    }
  });
});

describe("everything else", () => {
  const others = (): [string, string][] => [
    ["GET", `/v1/tasks/${task.name}/releases`],
    ["GET", `/v1/tasks/${task.name}/releases/${window}`],
    ["GET", `/v1/tasks/${task.name}/windows/${window}`],
    ["GET", "/v1/tasks"],
    ["POST", "/v1/tasks"],
    ["POST", `/v1/tasks/${task.name}/windows/${window + 1}/close`],
    ["GET", "/openapi.json"],
    ["GET", "/healthz"],
    ["GET", "/readyz"],
    ["GET", "/metrics"],
    ["GET", "/missing"],
  ];

  it("is not for pages of other origins, with the admin's token or without", async () => {
    for (const [method, path] of others()) {
      for (const headers of [{}, { authorization: `Bearer ${ADMIN_TOKEN}` }]) {
        expectForNone(await ask(method, path, { headers }));
      }
    }
  });

  it("has no preflight", async () => {
    for (const [method, path] of others()) {
      const response = await ask("OPTIONS", path, { headers: { "access-control-request-method": method } });
      expect(response.status).toBe(404);
      expectForNone(response);
    }
  });
});

it("no answer of the API is kept in caches, nor a refusal", async () => {
  const paths = [
    `/v1/tasks/${task.name}`,
    `/v1/tasks/${task.name}/windows/${window}`,
    "/v1/tasks",
    "/v1/tasks/missing",
  ];
  for (const path of paths) expect((await ask("GET", path)).headers.get("cache-control")).toBe("no-store");
});
