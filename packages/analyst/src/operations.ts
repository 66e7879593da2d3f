/**
 * How a service is: what everybody may know, and what its admin sees. Answers are read strictly, as all messages are.
 */
import { type Operations, parseOperations, parseServiceInfo, type ServiceInfo } from "@lethe/core/message";
import { ask } from "./request.ts";
import type { Reader } from "./service.ts";

/**
 * What a service says about itself. With a token, `isAdmin` says whether it is the admin's; after too many wrong ones
 * this rejects with `rate-limited`.
 */
export async function fetchServiceInfo(server: string, { token }: Reader = {}): Promise<ServiceInfo> {
  return parseServiceInfo((await ask(server, "/v1/console", { token })).body);
}

/**
 * Everything that a live view of a service shows, at most a second old. Rejects with `unauthorized` without the admin
 * token, and with `bad-role` at a process that answers no admin.
 */
export async function fetchOperations(server: string, { token }: Reader = {}): Promise<Operations> {
  return parseOperations((await ask(server, "/v1/operations", { token })).body);
}
