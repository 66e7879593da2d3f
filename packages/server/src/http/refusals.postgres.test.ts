import { randomBytes } from "node:crypto";
import { encodeBase64url, reportBytes, type Task, windowAt } from "@lethe/core/message";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Device,
  enrol,
  fetchTask,
  type KnownTask,
  reportOf,
  reportPath,
  upload,
  uploadHeaders,
} from "../../test/device.ts";
import { eventually } from "../../test/eventually.ts";
import { requestCounts } from "../../test/metrics.ts";
import { expectProblem, PROBLEM_TYPE } from "../../test/problem.ts";
import { openConnection, parseResponse, requestRaw, sendRaw } from "../../test/raw-http.ts";
import {
  ADMIN_TOKEN,
  asAdmin,
  createTask,
  EXACT_TASK,
  startTestService,
  type TestService,
} from "../../test/service.ts";

const TWIN: Task = { ...EXACT_TASK, task: "twin" };

let service: TestService;
let task: KnownTask;
let window: number;
let bytes: number;

beforeAll(async () => {
  service = await startTestService({ trustProxy: true });
  await createTask(service, EXACT_TASK);
  await createTask(service, TWIN);
  task = await fetchTask(service, EXACT_TASK.task);
  window = windowAt(task.manifest, service.clock() / 1000);
  bytes = reportBytes(task.layout);
});

afterAll(async () => {
  await service?.remove();
});

/** The raw head of an upload. */
function headOf(device: Device, headers: Record<string, string | number>): string {
  const lines = Object.entries({ ...uploadHeaders(device), ...headers }).map(([name, value]) => `${name}: ${value}`);
  return [`PUT ${reportPath(device)} HTTP/1.1`, "Host: test", ...lines, "", ""].join("\r\n");
}

/** The device can still send its one report: nothing of what was refused was kept. */
async function expectUnspent(device: Device): Promise<void> {
  expect((await upload(service, device, reportOf(device))).status).toBe(201);
}

describe("the size of a report", () => {
  it.each([1, 1000, 1e10])(
    "is refused if Content-Length declares %i bytes too many, before any is sent",
    async (more) => {
      const device = await enrol(service, task, window);
      const text = await sendRaw(service.url, headOf(device, { "content-length": bytes + more }), 300);
      const response = parseResponse(text);
      const { detail } = await expectProblem(response, "wrong-size");
      expect(detail).toContain(`${bytes} bytes`);
      // What is never going to be read ends the connection.
      expect(response.headers.get("connection")).toBe(more > 1e9 ? "close" : "keep-alive");
      await expectUnspent(device);
    },
  );

  it.each([1, 100, 1_000_000])("is refused if %i bytes too many are sent", async (more) => {
    const device = await enrol(service, task, window);
    const report = new Uint8Array([...reportOf(device), ...new Uint8Array(more)]);
    await expectProblem(await upload(service, device, report), "wrong-size");
    await expectUnspent(device);
  });

  it.each([0, 1, 2, 50, 97])("is refused if only %i bytes are sent", async (length) => {
    const device = await enrol(service, task, window);
    await expectProblem(await upload(service, device, reportOf(device).slice(0, length)), "wrong-size");
    await expectUnspent(device);
  });

  it("is refused if the report comes in chunks, without Content-Length", async () => {
    const device = await enrol(service, task, window);
    const report = Buffer.from(reportOf(device)).toString("latin1");
    const chunk = `${bytes.toString(16)}\r\n${report}\r\n0\r\n\r\n`;
    const request = Buffer.from(
      headOf(device, { "transfer-encoding": "chunked", connection: "close" }) + chunk,
      "latin1",
    );
    await expectProblem(parseResponse(await sendRaw(service.url, request)), "wrong-size");
    await expectUnspent(device);
  });

  it("is refused as unreadable if it is given twice, as Content-Length and in chunks", async () => {
    const device = await enrol(service, task, window);
    const head = headOf(device, { "transfer-encoding": "chunked", "content-length": bytes });
    await expectProblem(parseResponse(await sendRaw(service.url, `${head}0\r\n\r\n`)), "bad-encoding");
    await expectUnspent(device);
  });
});

describe("a body that never becomes whole", () => {
  it("leaves nothing behind when the connection is cut mid-way", async () => {
    const device = await enrol(service, task, window);
    const { socket, answered } = await openConnection(service.url);
    const half = Buffer.from(reportOf(device).slice(0, bytes / 2));
    socket.write(headOf(device, { "content-length": bytes }));
    await new Promise((resolve) => socket.write(half, resolve));
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.resetAndDestroy();
    expect(await answered).toBe("");
    await expectUnspent(device);
  });

  it("is refused when the sender says that it is done half-way", async () => {
    const device = await enrol(service, task, window);
    const { socket, answered } = await openConnection(service.url);
    socket.write(headOf(device, { "content-length": bytes }));
    socket.end(Buffer.from(reportOf(device).slice(0, bytes / 2)));
    await expectProblem(parseResponse(await answered), "bad-encoding");
    await expectUnspent(device);
  });
});

describe("the header of a report", () => {
  it("is refused if the report is random bytes of the right size", async () => {
    const device = await enrol(service, task, window);
    await expectProblem(await upload(service, device, randomBytes(bytes)), "bad-encoding");
    await expectUnspent(device);
  });

  it.each([
    ["version", 0],
    ["kind", 1],
    ["manifest's hash, first byte,", 2],
    ["manifest's hash, last byte,", 33],
  ])("is refused if its %s is another", async (_what, at) => {
    const device = await enrol(service, task, window);
    for (const flip of [1, 0x80, 0xff]) {
      const report = reportOf(device);
      report[at] = (report[at] as number) ^ flip;
      await expectProblem(await upload(service, device, report), "bad-encoding");
    }
    await expectUnspent(device);
  });

  it("is refused if the report was made for another task, or for this one as another operator runs it", async () => {
    const twin = await fetchTask(service, TWIN.task);
    const [device, other] = [await enrol(service, task, window), await enrol(service, twin, window)];
    const report = reportOf(other);
    expect(report.length).toBe(bytes);
    await expectProblem(await upload(service, device, report), "bad-encoding");
    await expectUnspent(device);
    await expectUnspent(other);
  });
});

describe("the type of a body", () => {
  const wrong = [
    "application/json",
    "text/plain",
    "application/octet-streams",
    "multipart/form-data; boundary=x",
    "x",
    "",
  ];

  it.each(wrong)("of a report is refused if it is %j", async (type) => {
    const device = await enrol(service, task, window);
    const headers = { ...uploadHeaders(device), "content-type": type, "content-length": String(bytes) };
    const request = { method: "PUT", path: reportPath(device), headers, body: reportOf(device) };
    await expectProblem(await requestRaw(service.url, request), "wrong-type");
    await expectUnspent(device);
  });

  it("of a report is refused if it is missing", async () => {
    const device = await enrol(service, task, window);
    const headers = { authorization: `Bearer ${device.token}`, "content-length": String(bytes) };
    const request = { method: "PUT", path: reportPath(device), headers, body: reportOf(device) };
    await expectProblem(await requestRaw(service.url, request), "wrong-type");
    await expectUnspent(device);
  });

  it("may carry parameters, in any case", async () => {
    const device = await enrol(service, task, window);
    const headers = {
      ...uploadHeaders(device),
      "content-type": "Application/Octet-Stream; q=1",
      "content-length": String(bytes),
    };
    const request = { method: "PUT", path: reportPath(device), headers, body: reportOf(device) };
    expect((await requestRaw(service.url, request)).status).toBe(201);
  });

  it("of a task or of an enrolment is refused if it is not JSON", async () => {
    const enrolment = `/v1/tasks/${task.name}/windows/${window}/devices`;
    for (const path of ["/v1/tasks", enrolment]) {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "text/json" };
      await expectProblem(await fetch(service.url + path, { method: "POST", headers, body: "{}" }), "wrong-type");
    }
  });
});

describe("ids in paths", () => {
  const ID = encodeBase64url(new Uint8Array(16));
  const put = (id: string) =>
    requestRaw(service.url, {
      method: "PUT",
      path: `/v1/tasks/${task.name}/windows/${window}/reports/${id}`,
      headers: { ...uploadHeaders({ token: "x" }), "content-length": String(bytes) },
      body: Buffer.concat([Uint8Array.of(1, 0x52), task.hash, new Uint8Array(bytes - 34)]),
    });

  it("of a device nobody enrolled are unknown", async () => {
    await expectProblem(await put(ID), "unknown-device");
  });

  it.each([
    ["too short", ID.slice(1)],
    ["too long", `${ID}A`],
    ["padded", `${ID}==`],
    ["with stray bits at the end", `${ID.slice(1)}B`],
    ["in the other alphabet", `+${ID.slice(1)}`],
    ["in the other alphabet, encoded", `%2F${ID.slice(1)}`],
    ["with white space", `%20${ID.slice(1)}`],
    ["with a zero byte", `%00${ID.slice(1)}`],
    ["with a line end behind", `${ID}%0A`],
    ["of letters that look alike", `%EF%BC%A1${ID.slice(1)}`],
    ["climbing", "..%2F..%2F..%2Fetc"],
    ["of SQL", "'%20OR%201=1--%20%20%20%20%20%20%20%20%20%20"],
  ])("of a device are refused if %s", async (_what, id) => {
    await expectProblem(await put(id), "bad-encoding");
  });

  it.each(["", "/", "/../../windows", `/${ID}/`, `/${ID}/body`, `/${"A".repeat(201)}`])(
    "lead nowhere behind reports%s",
    async (tail) => {
      const path = `/v1/tasks/${task.name}/windows/${window}/reports${tail}`;
      const headers = { ...uploadHeaders({ token: "x" }), "content-length": String(bytes) };
      const response = await requestRaw(service.url, { method: "PUT", path, headers, body: new Uint8Array(bytes) });
      expect([400, 404]).toContain(response.status);
      expect(response.headers.get("content-type")).toMatch(PROBLEM_TYPE);
    },
  );

  it.each(["x", "-1", "01", "+1", "1.0", "1e3", "0x10", "%31%00", "1".repeat(16), "%D9%A1", " 1".trim().concat("%20")])(
    "of a window are refused if they are %s",
    async (number) => {
      const paths = [`windows/${number}`, `releases/${number}`].map((path) => `/v1/tasks/${task.name}/${path}`);
      for (const path of paths)
        await expectProblem(await requestRaw(service.url, { method: "GET", path }), "bad-encoding");
    },
  );

  it.each(["Exact", "1x", "exact%20", "exact%00", "_", "%2e%2e", "a".repeat(65)])(
    "of a task are refused if they are %s",
    async (name) => {
      await expectProblem(await requestRaw(service.url, { method: "GET", path: `/v1/tasks/${name}` }), "bad-encoding");
    },
  );

  it("that cannot be decoded are refused", async () => {
    for (const path of ["/v1/tasks/%zz", "/v1/tasks/%", "/v1/tasks/%ff%fe", "/%c0%ae%c0%ae/"]) {
      await expectProblem(await requestRaw(service.url, { method: "GET", path }), "bad-encoding");
    }
  });

  it("of tasks that are not there are unknown, whatever is asked of them", async () => {
    const headers = uploadHeaders({ token: "x" });
    const asked: [string, string][] = [
      ["GET", "/v1/tasks/missing"],
      ["GET", "/v1/tasks/missing/releases"],
      ["GET", `/v1/tasks/missing/releases/${window}`],
      ["GET", `/v1/tasks/missing/windows/${window}`],
      ["POST", `/v1/tasks/missing/windows/${window}/devices`],
      ["PUT", `/v1/tasks/missing/windows/${window}/reports/${ID}`],
    ];
    for (const [method, path] of asked) {
      const body = method === "PUT" ? { headers, body: new Uint8Array(bytes) } : {};
      await expectProblem(await fetch(service.url + path, { method, ...body }), "unknown-task");
    }
    const close = { method: "POST", headers: { authorization: `Bearer ${ADMIN_TOKEN}` } };
    await expectProblem(await fetch(`${service.url}/v1/tasks/missing/windows/${window}/close`, close), "unknown-task");
  });
});

describe("parameters", () => {
  it.each(["?x=1", "?window=1&window=2", "?window=", "?window=x", "?window[]=1", "?__proto__=1"])(
    "of a manifest are refused if they are %s",
    async (query) => {
      await expectProblem(await fetch(`${service.url}/v1/tasks/${task.name}${query}`), "bad-encoding");
    },
  );

  it.each(["?limit=0", "?limit=101", "?limit=-1", "?limit=1.5", "?before=x", "?offset=1"])(
    "of a list of releases are refused if they are %s",
    async (query) => {
      await expectProblem(await fetch(`${service.url}/v1/tasks/${task.name}/releases${query}`), "bad-encoding");
    },
  );
});

describe("requests that HTTP itself does not allow", () => {
  it.each([
    ["a header that is too long", { "x-long": "x".repeat(20_000) }],
    ["too many headers", Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`x-${i}`, "1"]))],
  ])("are refused if they have %s", async (_what, headers) => {
    const response = await requestRaw(service.url, { method: "GET", path: "/healthz", headers });
    await expectProblem(response, "bad-encoding");
  });

  it.each([
    "\r\n\r\n",
    "hello\r\n\r\n",
    "GET\r\n\r\n",
    "GET / HTTP/9.9\r\n\r\n",
    "GET / HTTP/1.1\r\nHost test\r\n\r\n",
    "\x16\x03\x01\x02\x00\x01\x00",
  ])("are answered with 400 or not at all: %j", async (text) => {
    const answer = await sendRaw(service.url, text, 200, 200);
    if (answer !== "") await expectProblem(parseResponse(answer), "bad-encoding");
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  });
});

describe("paths and methods that are not there", () => {
  it.each([
    ["GET", "/"],
    ["GET", "/v1"],
    ["GET", "/v1/tasks/"],
    ["GET", "/v1/tasks/exact/"],
    ["GET", "/V1/tasks"],
    ["DELETE", "/v1/tasks/exact"],
    ["PATCH", "/v1/tasks"],
    ["POST", "/v1/tasks/exact/releases"],
    ["PUT", "/healthz"],
    ["GET", "/v1/tasks/exact/windows/1/reports/AAAAAAAAAAAAAAAAAAAAAA"],
    ["GET", "/.env"],
  ])("%s %s is 404, as a problem", async (method, path) => {
    const response = await fetch(service.url + path, { method });
    expect(response.status).toBe(path === "/v1/tasks/" ? 400 : 404);
    expect(response.headers.get("content-type")).toMatch(PROBLEM_TYPE);
    expect(await response.json()).toMatchObject({ status: response.status });
  });
});

describe("the admin's endpoints", () => {
  const endpoints = (): [string, string][] => [
    ["GET", "/v1/tasks"],
    ["POST", "/v1/tasks"],
    ["POST", `/v1/tasks/${task.name}/windows/${window}/close`],
    ["POST", "/v1/tasks/missing/windows/1/close"],
  ];
  const wrong: (string | undefined)[] = [
    undefined,
    "",
    "Bearer",
    "Bearer ",
    ADMIN_TOKEN,
    `Basic ${ADMIN_TOKEN}`,
    `Bearer ${ADMIN_TOKEN}x`,
    `Bearer ${ADMIN_TOKEN.slice(1)}`,
    `Bearer ${ADMIN_TOKEN.toUpperCase()}`,
    `Bearer ${ADMIN_TOKEN} ${ADMIN_TOKEN}`,
    `Bearer ${"x".repeat(5000)}`,
  ];

  // Every test has an address of its own, because wrong tokens of one address are limited.
  let last = 0;
  const newAddress = (): Record<string, string> => ({ "x-forwarded-for": `203.0.113.${++last}` });

  it.each(wrong)("refuse who brings %s", async (authorization) => {
    const headers = { ...newAddress(), ...(authorization !== undefined && { authorization }) };
    for (const [method, path] of endpoints()) {
      const response = await fetch(service.url + path, { method, headers });
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      await expectProblem(response, "unauthorized");
    }
    // Nothing was closed.
    await expectUnspent(await enrol(service, task, window));
  });

  it("refuse a device's token", async () => {
    const { token } = await enrol(service, task, window);
    const headers = { ...newAddress(), authorization: `Bearer ${token}` };
    for (const [method, path] of endpoints()) {
      await expectProblem(await fetch(service.url + path, { method, headers }), "unauthorized");
    }
  });

  it("refuse before they look at what was sent", async () => {
    const init = { method: "POST", headers: { "content-type": "text/plain" }, body: "x".repeat(2_000_000) };
    await expectProblem(await fetch(`${service.url}/v1/tasks`, init), "unauthorized");
  });

  it("take the scheme's name in any case", async () => {
    const headers = { authorization: `bEARER ${ADMIN_TOKEN}` };
    expect((await fetch(`${service.url}/v1/tasks`, { headers })).status).toBe(200);
  });
});

describe("the body of a task", () => {
  it.each([
    ["not JSON", "{"],
    ["nothing but a number", "1"],
    ["an empty object", "{}"],
    ["deeply nested", "[".repeat(100_000)],
  ])("is refused if it is %s", async (_what, body) => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" };
    await expectProblem(await fetch(`${service.url}/v1/tasks`, { method: "POST", headers, body }), "bad-task");
  });

  it("is refused if it is not text", async () => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" };
    const body = Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d);
    await expectProblem(await fetch(`${service.url}/v1/tasks`, { method: "POST", headers, body }), "bad-encoding");
  });

  it("is refused if it is longer than a megabyte, declared or in chunks", async () => {
    const body = JSON.stringify({ ...EXACT_TASK, task: "long", junk: "x".repeat(1_000_000) });
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" };
    await expectProblem(await fetch(`${service.url}/v1/tasks`, { method: "POST", headers, body }), "wrong-size");
    const chunked = { method: "POST", headers, body: new Blob([body]).stream(), duplex: "half" } as RequestInit;
    await expectProblem(await fetch(`${service.url}/v1/tasks`, chunked), "wrong-size");
  });

  it.each([
    ["version", { version: 0 }],
    ["task", { task: "Exact Task" }],
    ["ticks", { ticks: 0 }],
    ["tickSeconds", { tickSeconds: -1 }],
    ["graceSeconds", { graceSeconds: 0.5 }],
    ["mode", { mode: "two-server" }],
    ["scheme", { scheme: "rsa" }],
    ["minimumDevices", { minimumDevices: "3" }],
    ["metrics", { metrics: [] }],
    ["metrics[0].localEpsilon", { metrics: [{ name: "a", statistic: "occurrence", localEpsilon: 0 }] }],
    ["metrics[1].name", { metrics: [EXACT_TASK.metrics[0], EXACT_TASK.metrics[0]] }],
    ["minimumDevice ", { minimumDevice: 3 }],
  ])("is refused, naming the field, if it has a bad %s", async (field, wrong) => {
    const { detail } = await expectProblem(
      await asAdmin(service, "/v1/tasks", { ...EXACT_TASK, ...wrong }),
      "bad-task",
    );
    expect(`${detail} `.startsWith(field)).toBe(true);
  });
});

describe("the body of an enrolment", () => {
  const ask = (body: string | Uint8Array<ArrayBuffer>) =>
    fetch(`${service.url}/v1/tasks/${task.name}/windows/${window}/devices`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });

  it.each(["{", "1", "null", "[]", '"x"', '{"attestation":}', "\u0000"])("is refused if it is %j", async (body) => {
    await expectProblem(await ask(body), "bad-encoding");
  });

  it.each([1, null, ["stable"], {}])("is refused if the group in it is %j", async (group) => {
    await expectProblem(await ask(JSON.stringify({ group })), "bad-encoding");
  });

  it("may be absent, empty or an attestation", async () => {
    const bare = await fetch(`${service.url}/v1/tasks/${task.name}/windows/${window}/devices`, { method: "POST" });
    expect([bare.status, (await ask("{}")).status, (await ask('{"attestation":{"a":[1]}}')).status]).toEqual([
      201, 201, 201,
    ]);
  });

  it("is refused if it is longer than 65536 bytes, declared or in chunks", async () => {
    const body = JSON.stringify({ attestation: "x".repeat(65_536) });
    await expectProblem(await ask(body), "wrong-size");
    const chunked = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: new Blob([body]).stream(),
      duplex: "half",
    } as RequestInit;
    const path = `${service.url}/v1/tasks/${task.name}/windows/${window}/devices`;
    await expectProblem(await fetch(path, chunked), "wrong-size");
  });
});

describe("a request that has no body", () => {
  it("is refused with one", async () => {
    const request = { method: "GET", path: `/v1/tasks/${task.name}`, headers: { "content-length": "2" }, body: "{}" };
    await expectProblem(await requestRaw(service.url, request), "wrong-size");
  });

  it.each([
    "GET /healthz",
    "GET /metrics",
    "POST /healthz",
    "PUT /nowhere",
    "DELETE /v1/tasks",
    "OPTIONS /v1/tasks/exact",
    "GET /v1/tasks/exact",
    "HEAD /v1/tasks/exact/releases",
    "GET /%zz",
  ])(
    "is cut off if one comes without end: %s",
    async (line) => {
      const piece = "x".repeat(65_536);
      for (const [header, frame] of [
        ["Transfer-Encoding: chunked", `10000\r\n${piece}\r\n`],
        ["Transfer-Encoding: chunked\r\nContent-Type: application/octet-stream", `10000\r\n${piece}\r\n`],
        ["Content-Length: 1000000000000", piece],
        ["Expect: nothing\r\nContent-Length: 1000000000000", piece],
      ]) {
        const { socket, answered } = await openConnection(service.url);
        // A quarter of a megabyte, and no more: it is the service that must end this.
        socket.write(`${line} HTTP/1.1\r\nHost: test\r\n${header}\r\n\r\n`);
        for (let i = 0; i < 4; i++) socket.write(frame as string);
        const answer = await answered;
        if (answer !== "") expect([400, 413, 417]).toContain(parseResponse(answer).status);
      }
      // Long before the service would close a connection on which nothing happens.
    },
    25_000,
  );

  it("is answered if a short one comes where nobody looks at it", async () => {
    const request = {
      method: "POST",
      path: "/nowhere",
      headers: { "content-length": "65536" },
      body: "x".repeat(65_536),
    };
    expect((await requestRaw(service.url, request)).status).toBe(404);
  });
});

it("nothing of all this was answered with a 5xx, and every refusal is counted", async () => {
  const counts = await eventually(async () => {
    const found = await requestCounts(service);
    return found.length > 5 ? found : undefined;
  });
  expect(counts.filter(({ status }) => status >= 500)).toEqual([]);
  const refusals = await (await fetch(`${service.url}/metrics`)).text();
  for (const reason of ["wrong-size", "wrong-type", "bad-encoding", "unauthorized", "bad-task", "unknown-task"]) {
    expect(refusals).toMatch(new RegExp(`lethe_refusals_total\\{reason="${reason}"\\} [1-9]`));
  }
});
