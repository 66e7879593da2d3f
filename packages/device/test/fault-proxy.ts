import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { decodeBase64url, encodeBase64url } from "@lethe/core/message";

/** What a device asks a service for. */
export type Asked = "manifest" | "enrolment" | "report";

/** What can go wrong between a device and a service, and where. */
export const FAULTS = {
  "cut before": ["manifest", "enrolment", "report"],
  "cut after": ["manifest", "enrolment", "report"],
  "cut midway": ["manifest", "enrolment"],
  slow: ["manifest", "enrolment", "report"],
  "error 500": ["manifest", "enrolment", "report"],
  "too many": ["manifest", "enrolment", "report"],
  endless: ["manifest", "enrolment", "report"],
  "endless error": ["manifest", "enrolment", "report"],
  "wrong shape": ["manifest", "enrolment", "report"],
  truncated: ["manifest", "enrolment"],
  "wrong signature": ["manifest", "enrolment"],
  "other keys": ["enrolment"],
  "other keys, signed": ["enrolment"],
  "random keys": ["enrolment"],
} as const satisfies Record<string, readonly Asked[]>;

export type Fault = keyof typeof FAULTS;

export function faultsOf(asked: Asked): Fault[] {
  return (Object.keys(FAULTS) as Fault[]).filter((fault) => (FAULTS[fault] as readonly Asked[]).includes(asked));
}

export interface Request {
  readonly device: string;
  readonly asked: Asked;
  readonly path: string;
  readonly body: Uint8Array;
  readonly fault: Fault | undefined;
  /** When it came, by the proxy's clock. */
  readonly at: number;
  /** What the service said; undefined if it was not asked, or has not answered yet. */
  status?: number;
  /** The service's own good answer was handed on as a whole. */
  delivered: boolean;
}

export interface FaultProxy {
  /** Where a device finds the service: each has its own address, so that requests can be distinguished. */
  urlOf(device: string): string;
  readonly requests: readonly Request[];
  /** Connections are refused until it is called with false. */
  refuse(refusing: boolean): Promise<void>;
  close(): Promise<void>;
}

export interface FaultProxyOptions {
  readonly service: { readonly url: string };
  readonly clock?: () => number;
  readonly retryAfterSeconds?: number;
  /** What happens to a request. */
  readonly plan?: (device: string, asked: Asked) => Fault | undefined;
  /** Called when a request is here, and when the service has answered; while it waits, the request waits. */
  readonly onReport?: (when: "asked" | "answered") => Promise<void> | void;
}

const SLOW_MS = 60;

/** Between devices and a service, over real connections. */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const { service, clock = Date.now, retryAfterSeconds = 5, plan = () => undefined, onReport } = options;
  const requests: Request[] = [];

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, device = "", rest = ""] = /^\/([^/]+)(\/.*)$/.exec(incoming.url ?? "") ?? [];
    const asked = incoming.method === "GET" ? "manifest" : incoming.method === "POST" ? "enrolment" : "report";
    const body = await bodyOf(incoming);
    const request: Request = {
      ...{ device, asked, path: rest, body, at: clock() },
      fault: plan(device, asked),
      delivered: false,
    };
    requests.push(request);
    if (asked === "report") await onReport?.("asked");
    switch (request.fault) {
      case "cut before":
        return cut(incoming);
      case "error 500":
        return void response.writeHead(500, { "content-type": "text/html" }).end("<h1>Internal Server Error</h1>");
      case "too many":
        return void response
          .writeHead(429, { "content-type": "application/problem+json", "retry-after": `${retryAfterSeconds}` })
          .end(JSON.stringify({ code: "rate-limited", detail: "too many requests" }));
      case "endless":
        return sendForever(response, 200);
      case "endless error":
        return sendForever(response, 400);
      case "wrong shape":
        return void response.writeHead(200, { "content-type": "application/json" }).end('{"manifest":[7],"keys":null}');
    }
    const answer = await forward(incoming, rest, body);
    request.status = answer.status;
    if (asked === "report") await onReport?.("answered");
    if (request.fault === "cut after") return cut(incoming);
    if (request.fault === "slow") await sleep(SLOW_MS);
    const text = answer.status < 300 ? await spoilt(answer.text, request.fault, rest) : answer.text;
    response.writeHead(answer.status, { ...answer.headers, "content-length": new TextEncoder().encode(text).length });
    if (request.fault === "cut midway") {
      response.write(text.slice(0, text.length / 2), () => setTimeout(() => cut(incoming), 5));
      return;
    }
    request.delivered = answer.status < 300 && (request.fault === undefined || request.fault === "slow");
    response.end(text);
  }

  async function forward(
    { method = "", headers }: IncomingMessage,
    path: string,
    body: Uint8Array,
  ): Promise<{ status: number; headers: Record<string, string>; text: string }> {
    const kept = ["content-type", "authorization"].flatMap((name) => {
      const value = headers[name];
      return typeof value === "string" ? [[name, value] as const] : [];
    });
    const answer = await fetch(service.url + path, {
      method,
      headers: Object.fromEntries(kept),
      ...(body.length > 0 && { body: body as Uint8Array<ArrayBuffer> }),
    });
    const handedOn = ["content-type", "retry-after"].flatMap((name) => {
      const value = answer.headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    return { status: answer.status, headers: Object.fromEntries(handedOn), text: await answer.text() };
  }

  async function spoilt(text: string, fault: Fault | undefined, path: string): Promise<string> {
    switch (fault) {
      case "truncated":
        return text.slice(0, (2 * text.length) / 3);
      case "wrong signature":
        return text.replace(
          /("signature":\s*")([^"]+)/,
          (_all, before: string, found: string) => before + flipped(found),
        );
      case "other keys":
        return withKeys(text, { publicKeys: (await otherKeys(path)).publicKeys });
      case "other keys, signed":
        return withKeys(text, await otherKeys(path));
      case "random keys":
        return withKeys(text, { publicKeys: likeKeys(keysIn(text).publicKeys) });
      default:
        return text;
    }
  }

  /** Those of a device that exists, in the same window. */
  async function otherKeys(path: string): Promise<Keys> {
    for (;;) {
      const answer = await fetch(service.url + path, { method: "POST" });
      if (answer.status === 201) return keysIn(await answer.text());
      await sleep(20);
    }
  }

  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(() => incoming.socket.destroy());
  });
  const listen = (port: number): Promise<void> => new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (device) => `http://127.0.0.1:${port}/${device}`,
    requests,
    refuse: (refusing) => (refusing ? stop() : listen(port)),
    close: stop,
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Uint8Array);
  return new Uint8Array(Buffer.concat(chunks));
}

function cut({ socket }: IncomingMessage): void {
  socket.resetAndDestroy();
}

/** Until the other side has had enough. */
function sendForever(response: ServerResponse, status: number): void {
  response.writeHead(status, { "content-type": "application/json" });
  const chunk = " ".repeat(65_536);
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on("drain", more);
  response.on("error", () => undefined);
  more();
}

interface Keys {
  readonly publicKeys: string;
  readonly signature?: string;
}

function keysIn(enrolment: string): Keys {
  const [keys] = (JSON.parse(enrolment) as { keys: { publicKeys: string; signature: string }[] }).keys;
  if (!keys) throw new TypeError("there are no keys in the enrolment");
  return { publicKeys: keys.publicKeys, signature: keys.signature };
}

function withKeys(enrolment: string, keys: Keys): string {
  const found = JSON.parse(enrolment) as { keys: object[] };
  return JSON.stringify({ ...found, keys: found.keys.map((each) => ({ ...each, ...keys })) });
}

/** Of the same version, kind and length. */
function likeKeys(publicKeys: string): string {
  const bytes = decodeBase64url("keys", publicKeys);
  bytes.set(randomBytes(bytes.length - 2), 2);
  return encodeBase64url(bytes);
}

function flipped(signature: string): string {
  const bytes = decodeBase64url("signature", signature);
  const at = Math.floor(Math.random() * bytes.length);
  bytes[at] = (bytes[at] as number) ^ (1 << Math.floor(Math.random() * 8));
  return encodeBase64url(bytes);
}
