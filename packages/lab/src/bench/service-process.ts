import { openService, type ServiceOptions } from "@lethe/server";
import { pino } from "pino";

/**
 * One process of the service, as `startService` forks it: takes its options from its parent, opens the service as
 * `lethe serve` does, log included, and answers with its address. Ends when the parent disconnects.
 */
process.once("message", async (options: Omit<ServiceOptions, "host" | "port" | "log">) => {
  const log = pino({ base: null }, pino.destination({ dest: 2, sync: true }));
  const service = await openService({ ...options, host: "127.0.0.1", port: 0, log });
  process.once("disconnect", () => void service.close().then(() => process.exit()));
  process.send?.(service.url);
});
