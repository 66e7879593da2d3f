import { bestMechanism, type HistogramMechanismName } from "./histogram.ts";

/**
 * Which mechanisms two servers can check. They open the sum of all slots, one for every count, and want it to be one. A bucket of several counts
 * is a sum of several slots: noise that is added to buckets, not to slots, leaves nothing to open unless each bucket but the
 * last, which is "at least", is one slot. K-ary response replaces the whole report, so it is always possible.
 */
export function possibleMechanisms(edges: readonly number[]): readonly HistogramMechanismName[] {
  return edges.every((edge, i) => edge === i) ? ["kary", "unary", "per-bucket"] : ["kary"];
}

/** Refuses a mechanism that two servers cannot check. */
export function requirePossibleMechanism(mechanism: HistogramMechanismName, edges: readonly number[]): void {
  if (possibleMechanisms(edges).includes(mechanism)) return;
  throw new RangeError(
    `mechanism ${mechanism} needs a bucket for every count with two servers, not edges [${edges.join(", ")}]: ` +
      "use kary, consecutive edges, or noise at the servers",
  );
}

/** Of these the one with the least error at ε. */
export function bestPossibleMechanism(edges: readonly number[], localEpsilon: number): HistogramMechanismName {
  const best = bestMechanism(edges.length, localEpsilon);
  return possibleMechanisms(edges).includes(best) ? best : "kary";
}
