import { createElGamalCounter, type LatticeChoice } from "../encryption/index.ts";
import type { HistogramSpec } from "./histogram.ts";
import { ledgerDevice, ledgerServer, planLedger } from "./lattice/ledger.ts";
import {
  planRotationHistogram,
  rotationHistogramDevice,
  rotationHistogramServer,
} from "./lattice/rotation-histogram.ts";
import { planRotationMean, rotationMeanDevice, rotationMeanServer } from "./lattice/rotation-mean.ts";
import type { MeanSpec } from "./mean.ts";
import type { OccurrenceSpec } from "./occurrence.ts";
import { paperHistogramDevice, paperHistogramServer } from "./paper/histogram.ts";
import { elgamalForMean, paperMeanDevice, paperMeanServer } from "./paper/mean.ts";
import { paperOccurrenceDevice, paperOccurrenceServer } from "./paper/occurrence.ts";
import type { DeviceSide, ServerSide } from "./statistic.ts";

export type SchemeName = "lattice" | "elgamal";

export type StatisticSpec =
  | ({ readonly statistic: "occurrence" } & OccurrenceSpec)
  | ({ readonly statistic: "histogram" } & HistogramSpec)
  | ({ readonly statistic: "mean" } & MeanSpec);

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
  const bits = createElGamalCounter({ minimum: 0, maximum: 1 });
  if (spec.statistic === "occurrence") {
    return { device: paperOccurrenceDevice(bits, spec), server: paperOccurrenceServer(bits, spec) };
  }
  if (spec.statistic === "histogram") {
    return { device: paperHistogramDevice(bits, spec), server: paperHistogramServer(bits, spec) };
  }
  const counter = elgamalForMean(spec);
  return { device: paperMeanDevice(counter, spec), server: paperMeanServer(counter, spec) };
}
