import { LetheError } from "@lethe/core/error";
import type { FastifyRequest } from "fastify";
import { networkOf } from "../intake/network.ts";
import { createRateLimit, type Rate } from "../intake/rate-limit.ts";
import { isToken } from "../intake/token.ts";
import type { Route } from "./route.ts";

/** The parameters of a request, from its path and query; throws `bad-encoding` if they do not fit the route. */
export function readParameters(route: Route<unknown>, request: FastifyRequest): unknown {
  const texts = { ...(request.query as Record<string, string>), ...(request.params as Record<string, string>) };
  const read = route.parameters.safeParse(texts);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const unknown = issue?.code === "unrecognized_keys" ? issue.keys[0] : undefined;
  const detail =
    unknown === undefined ? `${issue?.path.join(".")} is not of the right form` : "there is a parameter too many";
  throw new LetheError("bad-encoding", detail);
}

/** Throws if the type or the size of a body, by the headers alone, does not fit the route. */
export function checkBody({ body }: Route<unknown>, request: FastifyRequest, parameters: unknown): void {
  const { "content-type": type, "content-length": length, "transfer-encoding": chunked } = request.headers;
  const { "content-encoding": coding } = request.headers;
  const isThere = chunked !== undefined || Number(length ?? 0) > 0;
  if (!body) {
    if (isThere) throw new LetheError("wrong-size", "this request has no body");
    return;
  }
  if (!isThere && body.type === "application/json" && body.optional) return;
  if (type !== body.type && type?.split(";")[0]?.trim().toLowerCase() !== body.type) {
    throw new LetheError("wrong-type", `the body is ${body.type}: say so in Content-Type`);
  }
  if (coding !== undefined && coding.toLowerCase() !== "identity") {
    throw new LetheError("wrong-type", "the body is compressed or coded: send it as it is, without Content-Encoding");
  }
  if ("bytes" in body) {
    const bytes = body.bytes(parameters);
    if (chunked !== undefined || Number(length) !== bytes) {
      throw new LetheError("wrong-size", `the body has exactly ${bytes} bytes: say so in Content-Length`);
    }
  } else if (Number(length ?? 0) > body.most || (body.type === "application/octet-stream" && chunked !== undefined)) {
    throw new LetheError("wrong-size", `the body has at most ${body.most} bytes`);
  }
}

/** The token after `Authorization: Bearer`. */
export function bearerOf({ headers: { authorization } }: FastifyRequest): string | undefined {
  return /^Bearer ([\x21-\x7e]{1,500})$/i.exec(authorization ?? "")?.[1];
}

/** Failed attempts of an address: ten at once, then one in six seconds. */
const FAILED_ATTEMPTS: Rate = { perSecond: 1 / 6, burst: 10 };

/** Decides which requests have the admin token. */
export interface AdminCheck {
  /**
   * False without a token, or with a wrong one, which counts as a failed attempt of the address. After too many of
   * those, throws `rate-limited` without comparing any token: otherwise a guesser would not be limited.
   */
  isAdmin(request: FastifyRequest): boolean;
  /** Throws `unauthorized` unless the request has the token. */
  require(request: FastifyRequest): void;
}

/** Without an admin token nobody is the admin. `now` is in seconds. */
export function createAdminCheck(adminToken: string | undefined, now: () => number): AdminCheck {
  const limit = createRateLimit(FAILED_ATTEMPTS, now, "wrong admin tokens");
  const isAdmin = (request: FastifyRequest): boolean => {
    const bearer = bearerOf(request);
    if (adminToken === undefined || bearer === undefined) return false;
    const network = networkOf(request.ip);
    limit.require(network);
    if (isToken(bearer, adminToken)) return true;
    limit.take(network);
    return false;
  };
  return {
    isAdmin,
    require: (request) => {
      if (!isAdmin(request)) {
        throw new LetheError("unauthorized", "this takes the admin token, as Authorization: Bearer");
      }
    },
  };
}
