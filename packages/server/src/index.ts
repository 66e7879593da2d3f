/**
 * Lethe's collection service: intake, tally and release in one process or several, for one server or two. `openService`
 * starts it; `service.ts` puts the parts together. The path of a report is `http` → `intake` → `storage`, then `rounds`
 * → `protocol` → `tally` → `release`. docs/architecture.md draws the folders and who may import whom.
 */
import { type Service, type ServiceOptions, startService } from "./service.ts";

export type { EnrolmentRules } from "./intake/admission.ts";
export type { Role, Service, ServiceOptions } from "./service.ts";
export { operatorKeyOf } from "./tally/key-file.ts";

/** Starts the service and resolves when it listens. */
export function openService(options: ServiceOptions): Promise<Service> {
  return startService(options);
}
