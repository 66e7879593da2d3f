import type { ServiceClock } from "../clock/clock.ts";
import type { Intake } from "../intake/intake.ts";
import type { Database } from "../storage/database.ts";
import type { Databases } from "../storage/databases.ts";
import type { TaskRegistry } from "../storage/tasks.ts";
import { type Admin, adminRoutes } from "./admin-routes.ts";
import { deviceRoutes, manifestRoute } from "./device-routes.ts";
import type { Metrics } from "./metrics.ts";
import { releaseRoutes, resultsAccess } from "./release-routes.ts";
import type { Route } from "./route.ts";
import { createWindowLookup } from "./window-lookup.ts";

/** What most endpoints need. */
export interface ApiParts {
  /** The first database. */
  readonly database: Database;
  readonly databases: Databases;
  readonly tasks: TaskRegistry;
  readonly metrics: Metrics;
  readonly clock: ServiceClock;
}

/**
 * The endpoints, as docs/wire-format.md describes them: those of devices if there is an intake, those of the operator
 * if there is an admin. Private results are for the admin alone.
 */
export function createApi({
  intake,
  admin,
  privateResults,
  ...parts
}: ApiParts & { intake?: Intake; admin?: Admin; privateResults: boolean }): Route<unknown>[] {
  const lookup = createWindowLookup(parts.databases, parts.tasks, parts.clock);
  return [
    manifestRoute(parts, lookup),
    ...(intake ? deviceRoutes(parts, intake, lookup) : []),
    ...releaseRoutes(parts.database, lookup, resultsAccess(privateResults)),
    ...(admin ? adminRoutes(parts, admin, lookup) : []),
  ];
}
