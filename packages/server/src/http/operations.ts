import type { FastifyInstance } from "fastify";
import type { Metrics } from "./metrics.ts";

/** What an operator's tools ask: the description, whether it lives, whether it works, and figures. */
export function addOperations(
  app: FastifyInstance,
  { description, metrics, isReady }: { description: unknown; metrics: Metrics; isReady: () => Promise<boolean> },
): void {
  const openapi = JSON.stringify(description);
  app.get("/openapi.json", (_request, reply) => reply.type("application/json").send(openapi));
  app.get("/healthz", (_request, reply) => reply.type("text/plain").send("ok\n"));
  app.get("/readyz", async (_request, reply) => {
    const ready = await isReady().catch(() => false);
    return reply
      .code(ready ? 200 : 503)
      .type("text/plain")
      .send(ready ? "ready\n" : "not ready\n");
  });
  app.get("/metrics", async (_request, reply) => reply.type("text/plain; version=0.0.4").send(await metrics.text()));
}
