import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeBase64url, PROBLEMS, type ProblemCode, parseEnrolment } from "@lethe/core/message";
import type { FastifyInstance, LightMyRequestResponse } from "fastify";
import { pino } from "pino";
import { sealRequest } from "../../../../server/dist/between/envelope.js";
import { encodeFinish, encodeJob, encodeKeysRequest } from "../../../../server/dist/between/messages.js";
import { openService, type ServiceOptions } from "../../../../server/dist/index.js";
import { TASKS } from "../../../../server/test/message-examples.ts";
import { type Target, Violation } from "../target.ts";
import { bytesOf, HELPER, jsonBytes, TWO_SERVERS } from "./fixtures.ts";

const ADMIN = "the-admin-token-of-a-fuzzed-service";
const PEER_SECRET = "a secret of leader and helper, for tests only";
const NOW = 1_767_225_600;
const [TICK_SECONDS, TICKS] = [3600, 24] as const;
/** Refusals outside of the table: a path that does not exist, and a service that has no room. */
const OTHER_STATUS = new Set([404, 503]);

/**
 * Starts a real service on an embedded database and returns its HTTP server: inputs are injected behind its socket, which
 * is a thousand times faster. Fastify announces each of its servers on a channel of Node's.
 */
async function startFuzzed(options: Partial<ServiceOptions>): Promise<FastifyInstance> {
  const folder = mkdtempSync(join(tmpdir(), "lethe-fuzz-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  // Creating a database takes seconds: the test has an empty one.
  const empty = process.env.LETHE_FUZZ_DATABASE;
  if (empty) cpSync(empty, join(folder, "data"), { recursive: true });
  let app: FastifyInstance | undefined;
  const onServer = (message: unknown): void => {
    app = (message as { readonly fastify: FastifyInstance }).fastify;
  };
  subscribe("fastify.initialization", onServer);
  await openService({
    ...{ data: join(folder, "data"), keyFile: join(folder, "keys.json"), adminToken: ADMIN },
    ...{
      host: "127.0.0.1",
      port: 0,
      log: pino({ level: "silent" }),
      threads: 1,
      keysAhead: 50,
      clock: () => NOW * 1000,
    },
    enrolment: { rate: { perSecond: 1e9, burst: 1e9 }, mostPerAddress: 1e9, mostPerWindow: 1e9 },
    ...options,
  });
  unsubscribe("fastify.initialization", onServer);
  if (!app) throw new TypeError("no HTTP server was announced");
  return app;
}

/** A request as a text: the first line, headers, an empty line, and the body, whose length is put right unless given. */
interface Request {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

function requestBytes(line: string, headers: Readonly<Record<string, string>> = {}, body?: Uint8Array): Uint8Array {
  const lines = [line, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), "", ""];
  return new Uint8Array(Buffer.concat([bytesOf(lines.join("\n")), body ?? new Uint8Array()]));
}

/** What Node's parser lets through: no control characters in headers, and a path of visible characters. */
function requestFrom(input: Uint8Array): Request {
  const bytes = Buffer.from(input);
  const end = bytes.indexOf("\n\n");
  const head = bytes.subarray(0, end < 0 ? bytes.length : end).toString("latin1");
  const [line = "", ...lines] = head.split("\n");
  const [, method = "GET", url = ""] = /^([A-Z]{1,10}) (.*)$/.exec(line) ?? [undefined, "GET", line];
  const headers: Record<string, string> = {};
  for (const each of lines) {
    const [, name, value = ""] = /^([\w!#$%&'*+.^`|~-]+): ?(.*)$/.exec(each) ?? [];
    if (name !== undefined) headers[name.toLowerCase()] = value.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, "");
  }
  const path = url.replaceAll(/[^\x21-\x7e]/g, "");
  return {
    method,
    url: path.startsWith("/") ? path : `/${path}`,
    headers,
    body: end < 0 ? Buffer.alloc(0) : bytes.subarray(end + 2),
  };
}

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

async function send(app: FastifyInstance, { method, url, headers, body }: Request): Promise<LightMyRequestResponse> {
  const hasBody = body.length > 0 && method !== "GET" && method !== "HEAD";
  return app.inject({
    method: (METHODS.has(method) ? method : "GET") as "GET",
    url,
    headers,
    // So that nobody guesses too many admin tokens from one address.
    remoteAddress: `10.0.${body.length % 256}.${url.length % 256}`,
    ...(hasBody && { payload: Buffer.from(body) }),
  });
}

/** Throws unless the answer is a success or a problem of the one table. */
function requireNamed({ statusCode, headers, body }: LightMyRequestResponse, method: string): void {
  if (statusCode < 400 || method === "HEAD") {
    if (statusCode >= 500) throw new Violation(`answers ${statusCode}`);
    return;
  }
  const type = String(headers["content-type"]).split(";")[0];
  if (type !== "application/problem+json") throw new Violation(`answers ${statusCode} as ${type}`);
  const { code, status, title } = JSON.parse(body) as { code?: ProblemCode; status: number; title: string };
  if (code === undefined) {
    if (!OTHER_STATUS.has(statusCode)) throw new Violation(`answers ${statusCode} (${title}) without a code`);
    return;
  }
  const known = Object.hasOwn(PROBLEMS, code) ? PROBLEMS[code] : undefined;
  if (known?.status !== statusCode || status !== statusCode) throw new Violation(`answers ${statusCode} ${code}`);
}

const JSON_TYPE = { "content-type": "application/json" };
const AS_ADMIN = { authorization: `Bearer ${ADMIN}` };

/** One request for each endpoint of a service, with every header that it reads. */
async function examplesOf(app: FastifyInstance): Promise<{ examples: Uint8Array[]; devices: string; task: object }> {
  const metrics = TASKS["with groups"]?.metrics.slice(0, 3);
  const task = { ...TASKS["with groups"], task: "fuzzed", tickSeconds: TICK_SECONDS, ticks: TICKS, metrics };
  const created = requestBytes("POST /v1/tasks", { ...AS_ADMIN, ...JSON_TYPE }, bytesOf(JSON.stringify(task)));
  const { statusCode, body } = await send(app, requestFrom(created));
  if (statusCode !== 201) throw new TypeError(`the task was refused: ${body}`);
  const window = Math.floor(NOW / (TICK_SECONDS * TICKS));
  const at = `/v1/tasks/fuzzed/windows/${window}`;
  const inGroup = bytesOf(JSON.stringify({ group: "beta", attestation: { a: [1, null] } }));
  const enrolling = requestBytes(`POST ${at}/devices`, JSON_TYPE, inGroup);
  let answer = await send(app, requestFrom(enrolling));
  for (let i = 0; answer.statusCode === 503 && i < 600; i++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    answer = await send(app, requestFrom(enrolling));
  }
  const { device, uploadToken } = parseEnrolment(answer.body);
  const upload = { "content-type": "application/octet-stream", authorization: `Bearer ${uploadToken}` };
  const path = `PUT ${at}/reports/${encodeBase64url(device)}`;
  const tooShort = await send(app, requestFrom(requestBytes(path, upload, new Uint8Array(9))));
  const bytes = Number(/exactly (\d+) bytes/.exec(tooShort.body)?.[1]);
  const gets = [
    ...["/", "/healthz", "/readyz", "/metrics", "/openapi.json", "/lethe.js", "/v1/tasks", "/v1/tasks/fuzzed"],
    ...["/v1/tasks/fuzzed?window=5", at, "/v1/tasks/fuzzed/releases", "/v1/tasks/fuzzed/releases?limit=3&before=9"],
    ...[`/v1/tasks/fuzzed/releases/${window}`, "/v1/operations", "/v1/service", "/v1/demonstration"],
  ];
  const examples = [
    ...gets.map((each) => requestBytes(`GET ${each}`, AS_ADMIN)),
    requestBytes(`OPTIONS ${at}/devices`, { origin: "https://a.example", "access-control-request-method": "POST" }),
    created,
    requestBytes("POST /v1/tasks", { ...AS_ADMIN, ...JSON_TYPE }, bytesOf(JSON.stringify({ ...task, version: 2 }))),
    enrolling,
    requestBytes(`POST ${at}/devices`),
    requestBytes(path, upload, new Uint8Array(bytes)),
    requestBytes(path, { ...upload, "content-length": "9" }, new Uint8Array(9)),
    requestBytes(`POST /v1/tasks/fuzzed/windows/${window + 9}/close`, AS_ADMIN),
  ];
  return { examples, devices: `POST ${at}/devices`, task };
}

/** Requests to a helper, with MACs that are right. */
function helperExamples(): Uint8Array[] {
  const agreed = { manifestHash: TWO_SERVERS.hash, helperCommitment: new Uint8Array(32) };
  const counted = { received: 0, reports: new Uint8Array(32) };
  return [
    peerRequest("task", bytesOf(TWO_SERVERS.signed)),
    peerRequest("keys", encodeKeysRequest(agreed, [new Uint8Array(16)])),
    peerRequest("job", encodeJob({ ...agreed, verifyKey: new Uint8Array(32) }, [])),
    peerRequest("finish", encodeFinish(agreed, counted)),
  ];
}

function peerRequest(operation: string, content: Uint8Array): Uint8Array {
  const sealed = sealRequest(PEER_SECRET, `${operation} fuzzed 5`, NOW, content);
  return requestBytes(`POST /v1/peer/${operation}/fuzzed/5`, { "content-type": "application/octet-stream" }, sealed);
}

type Rest = Pick<Target, "examples" | "seal" | "inCi"> & Partial<Pick<Target, "kind">>;

function target(name: string, app: FastifyInstance, rest: Rest): Target {
  return {
    ...{ name, covers: ["createHttp", "readParameters"], kind: "bytes", errors: [] },
    ...rest,
    run: async (input) => {
      const request = requestFrom(input);
      let answer: LightMyRequestResponse;
      try {
        answer = await send(app, request);
      } catch (error) {
        // What no request line can carry does not reach the service.
        if ((error as NodeJS.ErrnoException).code === "ERR_INVALID_URL") return undefined;
        throw error;
      }
      requireNamed(answer, request.method);
      return undefined;
    },
  };
}

const OPERATIONS = ["task", "keys", "job", "finish"];

/** The service for devices, readers and the admin, and the helper's for its leader. */
export async function httpTargets(): Promise<Target[]> {
  const service = await startFuzzed({
    sdk: bytesOf("// the SDK"),
    console: new Map([["/index.html", bytesOf("<p>")]]),
  });
  const peer = { secret: PEER_SECRET, operatorKey: TWO_SERVERS.manifest.servers[0]?.key ?? HELPER.key };
  const helper = await startFuzzed({ role: "helper", peer });
  const { examples, devices, task } = await examplesOf(service);
  const groups = [{ group: "beta" }, { group: "stable", attestation: { a: [1, null] } }, {}];
  return [
    target("HTTP request", service, { examples, inCi: 1200 }),
    target("HTTP body of an enrolment", service, {
      ...{ kind: "json", examples: groups.map(jsonBytes), inCi: 300 },
      seal: (content) => requestBytes(devices, JSON_TYPE, content),
    }),
    target("HTTP body of a task", service, {
      ...{ kind: "json", examples: [task, ...Object.values(TASKS)].map(jsonBytes), inCi: 200 },
      seal: (content) => requestBytes("POST /v1/tasks", { ...AS_ADMIN, ...JSON_TYPE }, content),
    }),
    target("HTTP request to a helper", helper, { examples: helperExamples(), inCi: 200 }),
    target("message to a helper", helper, {
      // The first byte says for which operation.
      examples: helperExamples().map((request, i) => Uint8Array.of(i, ...requestFrom(request).body.subarray(40))),
      seal: (content) => peerRequest(OPERATIONS[(content[0] ?? 0) % 4] as string, content.subarray(1)),
      inCi: 200,
    }),
  ];
}
