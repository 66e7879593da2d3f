/**
 * HTTP: the endpoints as data (`route.ts` and the files that end in `-routes.ts`), their description (`openapi.ts`),
 * and the server that checks every request against them (this file). An endpoint only reads its parameters, calls
 * another folder and writes the answer. This folder may import every other one but `start`, `rounds` and `tasks`. Start
 * reading in `api.ts`.
 */

import type { IncomingMessage } from "node:http";
import { LetheError } from "@lethe/core/error";
import { type ProblemCode, problemOf } from "@lethe/core/message";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { Unavailable } from "../storage/database.ts";
import type { Metrics } from "./metrics.ts";
import { limitPipelining } from "./pipelining.ts";
import { refusalOf, sendOther, sendProblem } from "./problems.ts";
import { type AdminCheck, bearerOf, checkBody, readParameters } from "./request-checks.ts";
import { createRoom, type Room } from "./room.ts";
import type { Route } from "./route.ts";

/** What the HTTP server serves, and whom it reports to. */
export interface HttpOptions {
  readonly routes: readonly Route<unknown>[];
  /** The answer to a request for a path that does not exist. */
  readonly notFound: string;
  readonly admin: AdminCheck;
  /** Whether a proxy in front writes the last entry of X-Forwarded-For. */
  readonly trustProxy: boolean;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Called for every refusal of what a device asked of a window. */
  readonly onRefused: (task: string, window: number, code: ProblemCode) => void;
  /** Looks for an unknown task, which another process may just have made. */
  readonly lookForTask: (task: string) => Promise<void> | undefined;
  /** How long a client may leave its answers unread, or ask nothing; by default 30 seconds. */
  readonly silenceMilliseconds?: number;
}

const REQUEST_TIMEOUT_MS = 60_000;
const SILENCE_MS = 30_000;
/** A longer body that was refused is not read to its end: the connection closes. */
const MOST_DRAINED = 16_000_000;
/** The same for a request to a path that takes no body, or that does not exist. */
const MOST_IGNORED = 65_536;
const UNAVAILABLE_RETRY_SECONDS = 5;

/** The answer to bytes that are not HTTP. */
const UNREADABLE = ((): string => {
  const body = JSON.stringify(problemOf("bad-encoding", "the request cannot be read"));
  const head = `HTTP/1.1 400 Bad Request\r\nContent-Type: application/problem+json\r\nContent-Length: ${body.length}`;
  return `${head}\r\nConnection: close\r\n\r\n${body}`;
})();

/** The results of the checks before the body is read. */
interface Checked {
  readonly route: Route<unknown>;
  parameters?: unknown;
  /** What the endpoint does for the request, once it has begun. */
  work?: Promise<unknown>;
}

declare module "fastify" {
  interface FastifyRequest {
    checked: Checked | null;
  }
  interface FastifyContextConfig {
    takesBody?: boolean;
  }
}

/**
 * Serves the routes. Every refusal is a problem of the one table (`message/problem.ts` in core); no request makes the
 * service fail with a 5xx.
 */
export function createHttp(options: HttpOptions): FastifyInstance {
  const app = fastify({
    // Only the proxy in front: entries before its own are what a client claims.
    trustProxy: options.trustProxy ? (_address: string, hop: number) => hop === 0 : false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: options.silenceMilliseconds ?? SILENCE_MS,
    // Requests are logged below, without their paths: those hold device ids, which belong in no log.
    logger: false,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    frameworkErrors: (_error, _request, reply) => {
      reply.header("connection", "close");
      sendProblem(reply as unknown as FastifyReply, "bad-encoding", "the path cannot be read");
    },
    clientErrorHandler: (_error, socket) => {
      if (socket.writable) socket.end(UNREADABLE);
    },
  });
  limitPipelining(app.server);
  // Node itself would read what follows without end.
  app.server.on("checkExpectation", (_request, response) => response.writeHead(417, { connection: "close" }).end());
  app.removeAllContentTypeParsers();
  // Types that are named are found at once; others are parsed before they match the star.
  app.addContentTypeParser("application/octet-stream", readBytes);
  for (const type of ["application/json", "*"]) {
    app.addContentTypeParser(type, { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  }
  app.decorateRequest("checked", null);
  app.addHook("onRequest", (request, reply, done) => {
    const isIgnored = request.routeOptions.config?.takesBody !== true;
    if (isIgnored && !isShorter(request, MOST_IGNORED)) {
      reply.header("connection", "close");
      done(new LetheError("wrong-size", "this request has no body"));
    } else done();
  });
  const room = createRoom(options.log);
  for (const route of options.routes) addRoute(app, options, room, route);
  for (const path of new Set(options.routes.filter(({ anyOrigin }) => anyOrigin).map(pathOf))) {
    app.options(path, (_request, reply) => preflight(reply));
  }
  app.addHook("onResponse", (request, reply, done) => {
    const route = request.checked?.route.path ?? "unknown";
    options.metrics.request(request.method, route, reply.statusCode, reply.elapsedTime / 1000);
    options.log.debug({ method: request.method, route, status: reply.statusCode }, "request");
    done();
  });
  app.setNotFoundHandler((_request, reply) =>
    sendOther(reply, { title: "Not found", status: 404, detail: options.notFound }),
  );
  app.setErrorHandler((error: unknown, request, reply) => {
    const refusal = refusalOf(error);
    // The rest of the body is read and dropped, but only up to a limit.
    if (!isShorter(request, MOST_DRAINED)) reply.header("connection", "close");
    if (error instanceof Unavailable) {
      reply.header("retry-after", UNAVAILABLE_RETRY_SECONDS);
      return sendOther(reply, { title: "Unavailable", status: 503, detail: error.advice });
    }
    if (!refusal) {
      // The message may quote what was sent; the stack says where it happened.
      options.log.error({ where: (error as Error)?.stack?.split("\n").slice(1, 4) }, "request failed");
      return sendOther(reply, { title: "Internal error", status: 500, detail: "the service failed: try again" });
    }
    options.metrics.refused(refusal.code);
    const { route, parameters } = request.checked ?? {};
    // Devices ask to be enrolled in a window, or report to it.
    if (route?.anyOrigin && isOfWindow(parameters)) options.onRefused(parameters.task, parameters.window, refusal.code);
    return sendProblem(reply, refusal.code, refusal.detail, refusal.retryAfter);
  });
  return app;
}

/** A report, whose length was checked. As a rule it comes in one piece, which is not copied. */
function readBytes(
  { checked }: FastifyRequest,
  payload: IncomingMessage,
  done: (error: Error | null, body?: Uint8Array) => void,
): void {
  // The body of a request to an unknown path is not kept.
  if (!checked) {
    done(null);
    return;
  }
  const pieces: Buffer[] = [];
  payload.on("data", (piece: Buffer) => pieces.push(piece));
  payload.on("end", () => done(null, pieces.length === 1 ? pieces[0] : Buffer.concat(pieces)));
  payload.on("error", () => done(new LetheError("bad-encoding", "the request cannot be read")));
}

/** The length of a body, by its headers. */
const lengthOf = ({ headers }: FastifyRequest): number => Number(headers["content-length"] ?? 0);

/** The bytes that the body of a request may have, after its headers were checked. */
function mostBytesOf({ body }: Route<unknown>, request: FastifyRequest): number {
  const isUnknown = request.headers["transfer-encoding"] !== undefined;
  return isUnknown && body && "most" in body ? body.most : lengthOf(request);
}

/** Whether a body is at most this long, by its headers; one of unknown length is not. */
function isShorter(request: FastifyRequest, bytes: number): boolean {
  return request.headers["transfer-encoding"] === undefined && lengthOf(request) <= bytes;
}

function isOfTask(parameters: unknown): parameters is { readonly task: string } {
  return typeof (parameters as { task?: unknown } | undefined)?.task === "string";
}

function isOfWindow(parameters: unknown): parameters is { readonly task: string; readonly window: number } {
  return typeof (parameters as { window?: unknown } | undefined)?.window === "number";
}

const pathOf = (route: Route<unknown>): string => route.path.replaceAll(/\{(\w+)\}/g, ":$1");

function addRoute(app: FastifyInstance, { lookForTask, admin }: HttpOptions, room: Room, route: Route<unknown>): void {
  const check = (request: FastifyRequest, parameters: unknown): void => {
    checkBody(route, request, parameters);
    route.before?.(parameters);
  };
  app.route({
    method: route.method,
    url: pathOf(route),
    config: { takesBody: route.body !== undefined },
    bodyLimit: route.body && "most" in route.body ? route.body.most : MOST_DRAINED,
    onRequest: (request, reply, done) => {
      const state: Checked = { route };
      request.checked = state;
      reply.header("cache-control", "no-store");
      if (route.anyOrigin) allowAnyOrigin(reply);
      try {
        if (route.admin) admin.require(request);
        const parameters = readParameters(route, request);
        state.parameters = parameters;
        const looking = isOfTask(parameters) ? lookForTask(parameters.task) : undefined;
        const enter = (task: string, bytes: number): void => {
          const leave = room.enter(task, bytes);
          // A client that goes away leaves its work behind.
          reply.raw.once("close", () => void Promise.resolve(state.work).then(leave, leave));
        };
        if (looking) {
          // Tasks that nobody knows share one place, so that inventing names is of no use.
          enter("", 0);
          looking.then(() => check(request, parameters)).then(() => done(), done);
        } else {
          check(request, parameters);
          enter(isOfTask(parameters) ? parameters.task : "", mostBytesOf(route, request));
          done();
        }
      } catch (error) {
        done(error as Error);
      }
    },
    handler: async (request, reply) => {
      const work = route.handle({
        parameters: request.checked?.parameters,
        body: request.body instanceof Uint8Array ? request.body : new Uint8Array(),
        bearer: bearerOf(request),
        isAdmin: () => admin.isAdmin(request),
        address: request.ip,
        header: (name) => request.headers[name]?.toString(),
      });
      if (request.checked) request.checked.work = work;
      const answer = await work;
      reply.code(answer.status).headers(answer.headers ?? {});
      if (answer.body !== undefined) {
        reply.type(answer.type ?? (typeof answer.body === "string" ? "application/json" : "application/octet-stream"));
      }
      // Not returned: a reply is a promise, too, and would be waited for.
      reply.send(answer.body);
    },
  });
}

function allowAnyOrigin(reply: FastifyReply): void {
  reply.header("access-control-allow-origin", "*");
  reply.header("access-control-expose-headers", "date, retry-after");
}

function preflight(reply: FastifyReply): FastifyReply {
  allowAnyOrigin(reply);
  return reply
    .code(204)
    .header("access-control-allow-methods", "GET, POST, PUT")
    .header("access-control-allow-headers", "authorization, content-type")
    .header("access-control-max-age", "86400")
    .send();
}
