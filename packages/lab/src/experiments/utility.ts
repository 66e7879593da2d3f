import type { SchemeName, StatisticName } from "@lethe/core/statistic";
import { expandedRandomness } from "../randomness/expanded-randomness.ts";
import { type UtilityCase, utilityCases } from "../utility/cases.ts";
import { type Comparison, compare } from "../utility/errors.ts";
import { type PaperFindings, runPaper } from "../utility/paper.ts";
import { type PlainSize, plainCases, runPlain } from "../utility/plain.ts";
import { runCase } from "../utility/run.ts";
import type { Experiment, Surroundings } from "./experiment.ts";
import { whole } from "./figures.ts";
import { describeUtility } from "./utility-finding.ts";
import { wrapMarkdown } from "./wrap-markdown.ts";

/** How much is run. */
export interface UtilitySize {
  /** The mechanisms by themselves. */
  readonly plain: PlainSize;
  /** Fleets with encryption. */
  readonly cases: readonly UtilityCase[];
  /** Windows of each of the paper's algorithms. */
  readonly paperWindows: number;
}

/** One way to count, with its measured error beside theory. */
export interface UtilityRow extends Comparison {
  readonly statistic: StatisticName;
  readonly mode: "one-server" | "two-server" | "none";
  /** Who adds the noise. */
  readonly noise: "device" | "servers";
  readonly scheme: SchemeName | "none";
  readonly mechanism: string;
  /** In each run. */
  readonly devices: number;
}

/** All ways to count, and the paper's variants. */
export interface UtilityResult {
  readonly rows: readonly UtilityRow[];
  readonly paper: PaperFindings;
}

/** Measures all errors. */
export async function runUtility(
  { plain, cases, paperWindows }: UtilitySize,
  { random: source, progress }: Surroundings,
): Promise<UtilityResult> {
  const random = expandedRandomness(source);
  const rows: UtilityRow[] = plainCases().map((each) => ({
    statistic: each.statistic,
    mode: "none",
    noise: "device",
    scheme: "none",
    mechanism: each.mechanism,
    devices: plain.devices,
    ...compare(runPlain(each, plain, random)),
  }));
  const windows = cases.reduce((sum, each) => sum + workOf(each) * each.windows, 0);
  let done = 0;
  for (const each of cases) {
    const step = (): void => {
      done += workOf(each);
      progress((0.95 * done) / windows);
    };
    const { mechanism, errors } = await runCase(each, random, step);
    rows.push({ ...nameOf(each), mechanism, devices: each.devices, ...compare(errors) });
  }
  const paper = await runPaper(plain, paperWindows, random);
  progress(1);
  return { rows, paper };
}

/** Roughly how many milliseconds a device takes with one server. */
const ONE_SERVER_WORK: Readonly<Record<SchemeName, (metrics: number) => number>> = {
  lattice: () => 2,
  elgamal: (metrics) => (metrics > 1 ? 6 * metrics : 25),
};

/** Roughly how many milliseconds a window takes. */
function workOf({ spec, devices, metrics }: UtilityCase): number {
  if ("two" in spec) return devices * (metrics > 1 ? 16 * metrics : 70);
  return devices * ONE_SERVER_WORK[spec.scheme](metrics);
}

function nameOf({ spec }: UtilityCase): Pick<UtilityRow, "statistic" | "mode" | "noise" | "scheme"> {
  if ("one" in spec) {
    return { statistic: spec.one.statistic, mode: "one-server", noise: "device", scheme: spec.scheme };
  }
  return { statistic: spec.two.statistic, mode: "two-server", noise: spec.two.noise, scheme: "elgamal" };
}

const PLAIN: PlainSize = { devices: 200, runs: 2000 };

function fullSize(): UtilitySize {
  return { plain: PLAIN, cases: utilityCases(1), paperWindows: 150 };
}

/** Measured errors beside those that Lethe states, and beside those that the paper prints. */
export const utility: Experiment = {
  about: wrapMarkdown(`
Every figure that Lethe releases comes with a standard error, and \`lethe plan\` states it before anything is built. It
is computed from the mechanism alone. We claim that this is **all** there is: encryption, rerandomization, shares,
proofs and canaries add nothing to the error, take nothing from it, and shift no estimate to one side.

To test this, real fleets count again and again what is known beforehand. Keys are issued, events recorded, states
written, reports sealed, opened and added up, by one server or by two, for every statistic, mechanism and scheme. For
each kind the table has two errors. *Measured* is the root of the mean square of estimate − truth. *Theory* is the
standard error that the server's own estimator states at the truth. A ratio of 1 is the claim. *Between* is an interval
that contains the true ratio with a probability of 99.99% (a χ² interval for a variance). ElGamal and two servers take
tens of milliseconds per device, so their fleets are small and their intervals wide. *Bias* is the mean error divided by
its standard error; beyond 4.5 it would be no accident. The first rows are the mechanisms by themselves, without
encryption, with ${whole(PLAIN.runs)} runs each: a deviation of a few per cent would show.

Then come the paper's own variants, run **with the noise that they print**. The paper's formula for the error of
randomized response stays below 1.12·√n for every ε, which cannot be: with ε near 0, answers say nothing. Its Algorithm
3 spends ε₀ on each of two buckets that change; the resulting ε is found by going through all answers of a device. Its
Algorithm 4 has noise of variance k·σ² where the sensitivity is k. Both have a smaller error than they are entitled to,
and pay for it with privacy that they had promised. Algorithm 4 also forgets devices with more than k events, and
Algorithm 3's loop, run in place and upwards, fills every slot at the first event ([errata](../errata.md)).
`),
  run: async (surroundings) => describeUtility(await runUtility(fullSize(), surroundings)),
};
