import { readFileSync } from "node:fs";
import type { Service } from "@lethe/server";
import { pino } from "pino";
import { PREPARING } from "../print/progress.ts";
import { readConsole } from "../system/console.ts";
import { requireFreePort, whyNotListening } from "../system/port.ts";
import { readSdk } from "../system/sdk.ts";
import type { Prepared, ServeOptions } from "./prepare.ts";

/** Starts the service. Rejects with one line if the port cannot be used, before anything is stored. */
export async function open(options: ServeOptions, prepared: Prepared): Promise<Service> {
  const { role, host, url, trustProxy, threads, keysAhead, dev, leastFree, databaseTimeout } = options;
  const { abandonLostWindows, acceptClock, newDatabase, requireStandby, privateResults } = options;
  const { webhook, webhookOverHttp, demonstration } = options;
  const { place, adminToken, peer, enrolment } = prepared;
  const port = portOf(options);
  await requireFreePort({ host, port });
  // Imported here because loading the service takes as long as everything else that a command does.
  const { openService } = await import("@lethe/server");
  try {
    return await openService({
      ...place,
      ...(adminToken && { adminToken: adminToken.token }),
      ...(peer && { peer }),
      enrolment,
      role,
      host,
      port,
      ...(url !== undefined && { url }),
      ...(trustProxy && { trustProxy }),
      ...(webhook !== undefined && { webhook }),
      ...(webhookOverHttp && { webhookOverHttp }),
      log: pino({ base: null }, pino.destination({ dest: 2, sync: true })),
      sdk: readSdk(),
      console: readConsole(),
      ...(privateResults && { privateResults }),
      ...(demonstration !== undefined && {
        demonstration: () => JSON.parse(readFileSync(demonstration, "utf8")) as unknown,
      }),
      onCreating: () => process.stderr.write(`${PREPARING}\n`),
      ...(threads !== undefined && { threads }),
      keysAhead,
      ...(dev && { development: true }),
      ...(abandonLostWindows && { abandonLostWindows }),
      ...(acceptClock && { acceptClock }),
      ...(newDatabase && { newDatabase }),
      ...(requireStandby && { requireStandby }),
      ...(leastFree !== undefined && { leastFreeBytes: 1e6 * leastFree }),
      databaseSeconds: databaseTimeout,
    });
  } catch (error) {
    throw whyNotListening(error, { host, port });
  }
}

/** Several tallies may run on one machine, and only the admin and monitoring look for them: they take any free port. */
function portOf({ role, port }: ServeOptions): number {
  return port ?? (role === "tally" ? 0 : 8080);
}
