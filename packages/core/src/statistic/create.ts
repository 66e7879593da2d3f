import { elgamalDevice, elgamalFor } from "../device/elgamal.ts";
import type { LatticeChoice } from "../encryption/index.ts";
import { paperHistogramServer } from "./histogram/paper.ts";
import { planRotationHistogram, rotationHistogramDevice, rotationHistogramServer } from "./histogram/rotation.ts";
import { paperMeanServer } from "./mean/paper.ts";
import { planRotationMean, rotationMeanDevice, rotationMeanServer } from "./mean/rotation.ts";
import { ledgerDevice, ledgerServer, planLedger } from "./occurrence/ledger.ts";
import { paperOccurrenceServer } from "./occurrence/paper.ts";
import type { SchemeName, StatisticSpec } from "./spec.ts";
import type { DeviceSide, ServerSide } from "./statistic.ts";
import { DEFAULT_HIDES } from "./writes.ts";

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
  return scheme === "elgamal" ? createElGamalStatistic(spec) : withFittingHides(spec);
}

/** Says of a statistic that has no room on lattices how many hides it would have room for. */
function withFittingHides(spec: StatisticSpec): Statistic {
  try {
    return createLatticeStatistic(spec);
  } catch (error) {
    const { hides = DEFAULT_HIDES } = spec;
    // Only where hides are among what can be lowered.
    if (!(error instanceof RangeError && /lower .*hides/.test(error.message)) || hides === 0) throw error;
    const largest = largestHides(spec, hides);
    const fits = largest < 0 ? "not even hides 0 fits" : `hides ${largest} is the most that fits`;
    throw new RangeError(`${error.message}; ${fits}`);
  }
}

/** The most hides below a number with which the statistic can run; -1 if there are none. */
function largestHides(spec: StatisticSpec, above: number): number {
  let [fits, tooMany] = [-1, above];
  while (tooMany - fits > 1) {
    const hides = Math.floor((fits + tooMany) / 2);
    try {
      createLatticeStatistic({ ...spec, hides });
      fits = hides;
    } catch {
      tooMany = hides;
    }
  }
  return fits;
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
