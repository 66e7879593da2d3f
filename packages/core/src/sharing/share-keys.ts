import type { ServerRole } from "./shared-bit.ts";

/**
 * How many public keys of each server a device gets. Of a shared bit the leader's share and its proof fills two group
 * elements, and the helper's seed is the hash of one. A slot uses the first key of each.
 */
export const KEYS: Readonly<Record<ServerRole, number>> = { leader: 2, helper: 1 };
