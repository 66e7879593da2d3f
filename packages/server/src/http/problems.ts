import { LetheError } from "@lethe/core/error";
import { isProblemCode, type ProblemCode, problemOf } from "@lethe/core/message";
import type { FastifyReply } from "fastify";

const RETRY_AFTER_SECONDS: Partial<Record<ProblemCode, number>> = { "rate-limited": 5, "no-keys-left": 1 };

/** Sends a problem of the one table; the client may try again after as many seconds, if that can help. */
export function sendProblem(
  reply: FastifyReply,
  code: ProblemCode,
  detail: string,
  retryAfter: number | undefined = RETRY_AFTER_SECONDS[code],
): FastifyReply {
  const problem = problemOf(code, detail);
  if (retryAfter !== undefined) reply.header("retry-after", retryAfter);
  if (code === "unauthorized") reply.header("www-authenticate", "Bearer");
  return reply.code(problem.status).type("application/problem+json").send(JSON.stringify(problem));
}

/** Sends a problem that is not in the table, in the form of RFC 9457. */
export function sendOther(
  reply: FastifyReply,
  problem: { title: string; status: number; detail: string },
): FastifyReply {
  return reply
    .code(problem.status)
    .type("application/problem+json")
    .send(JSON.stringify({ type: "about:blank", ...problem }));
}

/**
 * The problem of the one table for our own errors, and for what fastify finds wrong with a request; undefined for a
 * failure of the service.
 */
export function refusalOf(
  error: unknown,
): { code: ProblemCode; detail: string; retryAfter?: number | undefined } | undefined {
  if (error instanceof LetheError) {
    const { retryAfter } = error as { retryAfter?: number };
    return isProblemCode(error.code) ? { code: error.code, detail: error.message, retryAfter } : undefined;
  }
  const { code, statusCode = 500 } = error as { code?: string; statusCode?: number };
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") return { code: "wrong-size", detail: "the body is too long" };
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") return { code: "wrong-type", detail: "the body has no known type" };
  return statusCode < 500 ? { code: "bad-encoding", detail: "the request cannot be read" } : undefined;
}
