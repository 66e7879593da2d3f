import type { LatticeChoice } from "../encryption/index.ts";
import { ledgerDevice, ledgerServer, planLedger } from "./lattice/ledger.ts";
import {
  planRotationHistogram,
  rotationHistogramDevice,
  rotationHistogramServer,
} from "./lattice/rotation-histogram.ts";
import { planRotationMean, rotationMeanDevice, rotationMeanServer } from "./lattice/rotation-mean.ts";
import { elgamalDevice, elgamalFor } from "./paper/elgamal.ts";
import { paperHistogramServer } from "./paper/histogram.ts";
import { paperMeanServer } from "./paper/mean.ts";
import { paperOccurrenceServer } from "./paper/occurrence.ts";
import type { SchemeName, StatisticSpec } from "./spec.ts";
import type { DeviceSide, ServerSide } from "./statistic.ts";

/** Both halves of a statistic, and the lattice parameters it runs on, if it does. */
export interface Statistic {
  readonly device: DeviceSide;
  readonly server: ServerSide;
  readonly choice?: LatticeChoice;
}

export function createStatistic(scheme: SchemeName, spec: StatisticSpec): Statistic {
  // Names may come from a file: a typo must not choose the other scheme.
  requireName("scheme", scheme, ["lattice", "elgamal"]);
  requireName("statistic", spec.statistic, ["occurrence", "histogram", "mean"]);
  return scheme === "lattice" ? createLatticeStatistic(spec) : createElGamalStatistic(spec);
}

/** A lattice statistic holds about 50 kB; an ElGamal mean, once it has opened a report, its table of a megabyte or more. */
const MOST_REMEMBERED = 1024;
const remembered = new Map<string, Statistic>();

/**
 * `createStatistic`, but the same object for the same question, because choosing lattice parameters takes tens of
 * milliseconds. A statistic has no state of its own, and is made from a copy of `spec`: sharing it shows in nothing but time.
 */
export function statisticFor(scheme: SchemeName, spec: StatisticSpec): Statistic {
  const question = JSON.stringify([scheme, spec]);
  const known = remembered.get(question);
  if (known) return known;
  const statistic = createStatistic(...(JSON.parse(question) as [SchemeName, StatisticSpec]));
  if (remembered.size >= MOST_REMEMBERED) remembered.clear();
  remembered.set(question, statistic);
  return statistic;
}

function requireName(what: string, name: string, known: readonly string[]): void {
  if (!known.includes(name)) throw new RangeError(`${what} is one of ${known.join(", ")}, not ${name}`);
}

function createLatticeStatistic(spec: StatisticSpec): Statistic {
  if (spec.statistic === "occurrence") {
    const plan = planLedger(spec);
    return { device: ledgerDevice(plan), server: ledgerServer(plan), choice: plan.choice };
  }
  if (spec.statistic === "histogram") {
    const plan = planRotationHistogram(spec);
    return { device: rotationHistogramDevice(plan), server: rotationHistogramServer(plan), choice: plan.choice };
  }
  const plan = planRotationMean(spec);
  return { device: rotationMeanDevice(plan), server: rotationMeanServer(plan), choice: plan.choice };
}

function createElGamalStatistic(spec: StatisticSpec): Statistic {
  return { device: elgamalDevice(spec), server: elgamalServer(spec) };
}

function elgamalServer(spec: StatisticSpec): ServerSide {
  const scheme = elgamalFor(spec);
  if (spec.statistic === "occurrence") return paperOccurrenceServer(scheme, spec);
  if (spec.statistic === "histogram") return paperHistogramServer(scheme, spec);
  return paperMeanServer(scheme, spec);
}
