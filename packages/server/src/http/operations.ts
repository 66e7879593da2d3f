import { LetheError } from "@lethe/core/error";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ClockInDoubt } from "../clock/doubt.ts";
import { HelperUnavailable } from "../leader/client.ts";
import { Unavailable } from "../storage/database.ts";
import type { Metrics } from "./metrics.ts";

/**
 * Adds the endpoints for an operator's tools: the description, health, readiness and metrics. `whyNotReady` returns one
 * line, or undefined. The metrics include released figures for those who may read results.
 */
export function addOperations(
  app: FastifyInstance,
  {
    description,
    metrics,
    whyNotReady,
    mayReadResults,
  }: {
    description: unknown;
    metrics: Metrics;
    whyNotReady: () => Promise<string | undefined>;
    mayReadResults: (request: FastifyRequest) => boolean;
  },
): void {
  const openapi = JSON.stringify(description);
  app.get("/openapi.json", (_request, reply) => reply.type("application/json").send(openapi));
  app.get("/healthz", (_request, reply) => reply.type("text/plain").send("ok\n"));
  app.get("/readyz", async (_request, reply) => {
    const reason = await whyNotReady();
    return reply
      .code(reason === undefined ? 200 : 503)
      .type("text/plain")
      .send(reason === undefined ? "ready\n" : `not ready: ${reason}\n`);
  });
  app.get("/metrics", async (request, reply) => {
    const text = await metrics.text({ released: mayReadResults(request) });
    return reply.type("text/plain; version=0.0.4").send(text);
  });
}

/** The reason of a failure in one line, without any text of the database or of a library. */
export function reasonOf(error: Error): string {
  if (error instanceof LetheError || error instanceof HelperUnavailable || error instanceof ClockInDoubt) {
    return `${error.code}: ${error.message}`;
  }
  return error instanceof Unavailable ? error.advice : "the last round failed: see the log";
}
