import { Agent, request } from "node:http";
import { encodeBase64url, windowAt } from "@lethe/core/message";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  type Device,
  enrolMany,
  fetchTask,
  type KnownTask,
  reportOf,
  reportPath,
  upload,
  uploadHeaders,
} from "../test/device.ts";
import { requestCounts } from "../test/metrics.ts";
import { openConnection } from "../test/raw-http.ts";
import { ADMIN_TOKEN, createTask, EXACT_TASK, startTestService, type TestService } from "../test/service.ts";

let service: TestService;
let task: KnownTask;
let window: number;
let devices: Device[];
let reports: Uint8Array[];

const HONEST = 30;

beforeAll(async () => {
  service = await startTestService({ keysAhead: 3 * HONEST });
  await createTask(service, EXACT_TASK);
  task = await fetchTask(service, EXACT_TASK.task);
  window = windowAt(EXACT_TASK, service.clock() / 1000);
  devices = await enrolMany(service, task, window, 3 * HONEST);
  reports = devices.map((device) => reportOf(device));
});

afterAll(async () => {
  await service?.remove();
});

/** How long each of these honest uploads took, one after another, in milliseconds. */
async function sendHonest(from: number): Promise<number[]> {
  const times: number[] = [];
  for (let i = from; i < from + HONEST; i++) {
    const start = performance.now();
    expect((await upload(service, devices[i] as Device, reports[i] as Uint8Array)).status).toBe(201);
    times.push(performance.now() - start);
  }
  return times;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

it("honest uploads go on in time while thousands of bad requests come", async () => {
  const quiet = median(await sendHonest(0));

  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const unknown = `/v1/tasks/${task.name}/windows/${window}/reports/${encodeBase64url(new Uint8Array(16))}`;
  const headers = uploadHeaders({ token: "x" });
  const bad: [string, string, Record<string, string>, Uint8Array?][] = [
    ["PUT", unknown, headers, new Uint8Array(98)],
    ["PUT", unknown, headers, new Uint8Array(1000)],
    ["PUT", unknown, { ...headers, "content-type": "text/plain" }, new Uint8Array(98)],
    ["PUT", unknown, headers, Uint8Array.from([1, 0x52, ...task.hash, ...new Uint8Array(64)])],
    ["PUT", reportPath(devices[0] as Device), headers, reports[0] as Uint8Array],
    ["POST", `/v1/tasks/${task.name}/windows/${window + 9}/devices`, {}],
    ["GET", "/v1/tasks/missing", {}],
    ["POST", "/v1/tasks", { "content-type": "application/json" }, new TextEncoder().encode("{}")],
    ["GET", "/nowhere", {}],
  ];
  const statuses: number[] = [];
  let flooding = true;
  const flood = async (): Promise<void> => {
    while (flooding) {
      const [method, path, given, body] = bad[statuses.length % bad.length] as (typeof bad)[number];
      const status = await new Promise<number>((resolve, reject) => {
        const asked = request(service.url + path, {
          method,
          agent,
          headers: { ...given, "content-length": body?.length ?? 0 },
        });
        asked.on("response", (response) => {
          response.resume().on("end", () => resolve(response.statusCode ?? 0));
        });
        asked.on("error", reject);
        asked.end(body);
      });
      statuses.push(status);
    }
  };
  const flooded = Promise.all(Array.from({ length: 32 }, flood));
  const busy: number[] = await sendHonest(HONEST);
  while (statuses.length < 2000) await new Promise((resolve) => setTimeout(resolve, 10));
  busy.push(...(await sendHonest(2 * HONEST)));
  flooding = false;
  await flooded;
  agent.destroy();

  expect(statuses.length).toBeGreaterThan(2000);
  expect(statuses.filter((status) => status < 400 || status >= 500)).toEqual([]);
  // All share one processor with the flood's own sender: a bound that only a jam would break.
  expect(median(busy)).toBeLessThan(10 * quiet + 500);
});

const FUZZED = "fuzzed";
const token = fc.stringMatching(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,20}$/);
const text = fc.string({ unit: "grapheme", maxLength: 30 }).map(encodeURIComponent);
const line = fc.string({ maxLength: 30 }).map((value) => value.replaceAll(/[\r\n]/g, ""));
const method = fc.constantFrom("GET", "POST", "PUT", "OPTIONS", "HEAD", "DELETE", "PATCH", "TRACE", "PROPFIND");
const authorization = fc.constantFrom(
  "",
  `authorization: Bearer ${ADMIN_TOKEN}`,
  "authorization: Bearer x",
  "authorization: x",
);
const type = fc.constantFrom(
  "",
  "content-type: application/json",
  "content-type: application/octet-stream",
  "content-type: ;;",
);

interface FuzzedRequest {
  readonly method: string;
  readonly path: string;
  readonly version: string;
  readonly lines: readonly string[];
  readonly body: Uint8Array;
}

/** The routes there are, with parameters that are right, near or far off. */
const routePath = fc
  .record({
    route: fc.constantFrom(
      "/v1/tasks",
      "/v1/tasks/{task}",
      "/v1/tasks/{task}/releases",
      "/v1/tasks/{task}/releases/{window}",
      "/v1/tasks/{task}/windows/{window}",
      "/v1/tasks/{task}/windows/{window}/devices",
      "/v1/tasks/{task}/windows/{window}/reports/{device}",
      "/v1/tasks/{task}/windows/{window}/close",
      "/openapi.json",
    ),
    name: fc.oneof(fc.constant(FUZZED), fc.constant(FUZZED), fc.constantFrom("missing", "..", "%2e%2e", "%00"), text),
    window: fc.oneof(
      fc.integer({ min: -2, max: 2 }).map((later) => String(14_726_880 + later)),
      fc.bigInt({ min: -5n, max: 10n ** 20n }).map(String),
      text,
    ),
    device: fc.oneof(fc.uint8Array({ minLength: 16, maxLength: 16 }).map(encodeBase64url), text),
    query: fc.oneof(
      fc.constant(""),
      fc.constant(""),
      text.map((value) => `?${value}`),
      text.map((value) => `?window=${value}`),
    ),
  })
  .map(({ route, name, window: number, device, query }) =>
    route
      .replace("{task}", () => name)
      .replace("{window}", () => number)
      .replace("{device}", () => device)
      .concat(query),
  );

/** Whole requests, with bodies of all kinds. */
const wellFormed: fc.Arbitrary<FuzzedRequest> = fc
  .record({
    method,
    path: routePath,
    headers: fc.tuple(authorization, type),
    body: fc.oneof(
      fc.constant(new Uint8Array()),
      fc.uint8Array({ minLength: 98, maxLength: 98 }),
      fc.uint8Array({ maxLength: 200 }),
      fc.json().map((value) => new TextEncoder().encode(value)),
    ),
  })
  .map(({ method, path, headers, body }) => {
    const lines = [
      ...headers.filter((header) => header !== ""),
      ...(body.length > 0 ? [`content-length: ${body.length}`] : []),
    ];
    return { method, path, version: "1.1", lines, body };
  });

/** What nobody's library sends. */
const malformed: fc.Arbitrary<FuzzedRequest> = fc.record({
  method: fc.oneof(method, token, fc.constant("CONNECT")),
  path: fc.oneof(
    routePath,
    fc.constantFrom("/", "//", "/%", "*", "http://other/v1/tasks", "x"),
    text.map((value) => `/${value}`),
  ),
  version: fc.constantFrom("1.1", "1.1", "1.1", "1.0", "2.0", "x"),
  lines: fc.array(
    fc.oneof(
      authorization,
      type,
      fc.constantFrom(
        "content-length: 98",
        "content-length: 0",
        "content-length: -1",
        "content-length: 99999999999999999999",
        "transfer-encoding: chunked",
        "transfer-encoding: gzip, chunked",
        "expect: 100-continue",
        "expect: more",
        "upgrade: websocket\r\nconnection: upgrade",
        "accept-version: 9",
        "x-forwarded-for: ,,,",
        "origin: null",
      ),
      fc.tuple(token, line).map(([name, value]) => `${name}: ${value}`),
      line,
    ),
    { maxLength: 6 },
  ),
  body: fc.uint8Array({ maxLength: 200 }),
});

it("no request, however it is made, is answered with a 5xx or brings the service down", async () => {
  await createTask(service, { ...EXACT_TASK, task: FUZZED });
  const statuses = new Map<number, number>();
  const answersNo5xx = async ({ method, path, version, lines, body }: FuzzedRequest): Promise<void> => {
    const head = [`${method} ${path} HTTP/${version}`, "host: test", ...lines, "", ""].join("\r\n");
    const { socket, answered } = await openConnection(service.url);
    socket.end(Buffer.concat([Buffer.from(head), body]));
    socket.setTimeout(5000, () => socket.destroy());
    // What follows a whole request is another one: there may be several answers, or none.
    for (const [, status] of (await answered).matchAll(/^HTTP\/1\.1 (\d{3}) /gm)) {
      statuses.set(Number(status), (statuses.get(Number(status)) ?? 0) + 1);
      // Only enrolling may find no keys left.
      if (!(method === "POST" && path.includes("/devices"))) expect(Number(status)).toBeLessThan(500);
    }
  };
  await fc.assert(fc.asyncProperty(wellFormed, answersNo5xx), { numRuns: 1000 });
  await fc.assert(fc.asyncProperty(malformed, answersNo5xx), { numRuns: 500 });
  // It came in deep enough to find all of these.
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 400, 401, 404, 413, 415]));
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  const failed = (await requestCounts(service)).filter(
    ({ status, route }) => status >= 500 && !route.endsWith("/devices"),
  );
  expect(failed).toEqual([]);
  const [device] = await enrolMany(service, task, window, 1);
  if (device) expect((await upload(service, device, reportOf(device))).status).toBe(201);
});
