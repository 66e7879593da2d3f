import { LetheError } from "@lethe/core/error";
import type { FastifyInstance } from "fastify";
import { ClockInDoubt } from "../clock/doubt.ts";
import { HelperUnavailable } from "../leader/client.ts";
import { Unavailable } from "../storage/database.ts";
import type { Metrics } from "./metrics.ts";

/** What an operator's tools ask: the description, whether it lives, whether it works, and figures. `whyNotReady` is one line, or undefined. */
export function addOperations(
  app: FastifyInstance,
  {
    description,
    metrics,
    whyNotReady,
  }: { description: unknown; metrics: Metrics; whyNotReady: () => Promise<string | undefined> },
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
  app.get("/metrics", async (_request, reply) => reply.type("text/plain; version=0.0.4").send(await metrics.text()));
}

/** In one line, and nothing that the database or a library put into words. */
export function reasonOf(error: Error): string {
  if (error instanceof LetheError || error instanceof HelperUnavailable || error instanceof ClockInDoubt) {
    return `${error.code}: ${error.message}`;
  }
  return error instanceof Unavailable ? error.advice : "the last round failed: see the log";
}
