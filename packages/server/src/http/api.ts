import { type AdminParts, adminRoutes } from "./admin-routes.ts";
import { type DeviceParts, deviceRoutes } from "./device-routes.ts";
import { releaseRoutes } from "./release-routes.ts";
import type { Route } from "./route.ts";
import { createWindowLookup } from "./window-lookup.ts";

/** All endpoints, as docs/wire-format.md has them. */
export function createApi(parts: DeviceParts & AdminParts): Route<unknown>[] {
  const lookup = createWindowLookup(parts.database, parts.tasks, parts.now);
  return [...deviceRoutes(parts, lookup), ...releaseRoutes(parts.database, lookup), ...adminRoutes(parts, lookup)];
}
