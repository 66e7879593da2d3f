import { isJoint } from "./names.ts";
import type { SchemeName, StatisticName } from "./spec.ts";

/** What is true of all statistics on a scheme. */
export interface SchemeEntry {
  /** For people. */
  readonly title: string;
  /** Whether a state has room for a limited number of events and writes only. */
  readonly hasLimitedRoom: boolean;
  /** Whether captured states stay closed to somebody with a quantum computer. */
  readonly isPostQuantum: boolean;
}

/** The schemes, one entry each. What a statistic runs on a scheme is in the statistic's own entry. */
export const SCHEME_TABLE: Readonly<Record<SchemeName, SchemeEntry>> = {
  lattice: { title: "lattice", hasLimitedRoom: true, isPostQuantum: true },
  elgamal: { title: "ElGamal over Ristretto255", hasLimitedRoom: false, isPostQuantum: false },
};

/** Whether a device counts a limited number of events between two writes, so that a metric needs `eventsPerTick`. */
export function limitsEvents(scheme: SchemeName, statistic: StatisticName): boolean {
  return SCHEME_TABLE[scheme].hasLimitedRoom && !isJoint(statistic);
}
