import { type Service, type ServiceOptions, startService } from "./service.ts";

export type { EnrolmentRules } from "./intake/admission.ts";
export type { Role, Service, ServiceOptions } from "./service.ts";
export { operatorKeyOf } from "./tally/key-file.ts";

/** Starts the service and resolves when it listens. */
export function openService(options: ServiceOptions): Promise<Service> {
  return startService(options);
}
