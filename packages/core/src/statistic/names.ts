import type { Collusion, SchemeName, StatisticName } from "./spec.ts";

// Words that a task may use. They are in a file without imports of code, because every device loads them. A device knows
// the statistics from the lists of its halves, a server from `table.ts`.

/** The schemes, in the order of their statistics in messages. */
export const SCHEMES: readonly SchemeName[] = ["lattice", "elgamal"];
/** How many servers count. */
export const MODES = ["one-server", "two-server"] as const;

/** Against whom the states of devices hold in a task of two servers, from the default on. */
export const COLLUSIONS: readonly Collusion[] = ["none", "one-server"];

/**
 * Statistics whose metrics run together: all metrics of one scheme are one statistic on the device, which has a list of
 * their `localEpsilon` or `sigma`. On lattices one ciphertext holds thousands of them, so that is their scheme unless a
 * task names another.
 */
export const JOINT: readonly StatisticName[] = ["occurrence"];

/** Whether the metrics of a statistic run together. */
export function isJoint(statistic: StatisticName): boolean {
  return JOINT.includes(statistic);
}

/** The scheme of a metric if neither it nor its task names one. Counts of events have no limit with ElGamal. */
export function defaultScheme(statistic: StatisticName): SchemeName {
  return isJoint(statistic) ? "lattice" : "elgamal";
}
