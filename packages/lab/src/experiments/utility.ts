import { expandedRandomness } from "../randomness/expanded-randomness.ts";
import { type UtilityCase, utilityCases } from "../utility/cases.ts";
import { type Comparison, compare } from "../utility/errors.ts";
import { type PaperFindings, runPaper } from "../utility/paper.ts";
import { type PlainSize, plainCases, runPlain } from "../utility/plain.ts";
import { runCase } from "../utility/run.ts";
import type { Experiment, Surroundings } from "./experiment.ts";
import { describeUtility } from "./utility-finding.ts";

export interface UtilitySize {
  /** Of the mechanisms by themselves. */
  readonly plain: PlainSize;
  /** With encryption. */
  readonly cases: readonly UtilityCase[];
  /** Of each of the paper's algorithms. */
  readonly paperWindows: number;
}

export interface UtilityRow extends Comparison {
  readonly statistic: "occurrence" | "histogram" | "mean";
  readonly mode: "one-server" | "two-server" | "none";
  /** Who adds it. */
  readonly noise: "device" | "servers";
  readonly scheme: "lattice" | "elgamal" | "none";
  readonly mechanism: string;
  /** In each run. */
  readonly devices: number;
}

export interface UtilityResult {
  readonly rows: readonly UtilityRow[];
  readonly paper: PaperFindings;
}

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

/** Of a window, roughly, in milliseconds. */
function workOf({ spec, devices, metrics }: UtilityCase): number {
  if ("two" in spec) return devices * (metrics > 1 ? 16 * metrics : 70);
  return devices * (spec.scheme === "lattice" ? 2 : metrics > 1 ? 6 * metrics : 25);
}

function nameOf({ spec }: UtilityCase): Pick<UtilityRow, "statistic" | "mode" | "noise" | "scheme"> {
  if ("one" in spec) {
    return { statistic: spec.one.statistic, mode: "one-server", noise: "device", scheme: spec.scheme };
  }
  return { statistic: spec.two.statistic, mode: "two-server", noise: spec.two.noise, scheme: "elgamal" };
}

function fullSize(): UtilitySize {
  return { plain: { devices: 200, runs: 2000 }, cases: utilityCases(1), paperWindows: 150 };
}

export const utility: Experiment = {
  about: `
Every figure that Lethe releases comes with a standard error, and \`lethe plan\` promises it before anything is built. It is computed from the mechanism alone.
The claim, which is ours, is that this is **all** there is: encryption, rerandomization, shares, proofs and canaries add nothing to the error, take nothing from it, and move no estimate to one side.

To test it, real fleets count again and again what is known beforehand: keys are issued, events recorded, states written, reports sealed, opened and added up, by one server or by two, for every statistic,
mechanism and scheme. Of each kind the table has the root of the mean square of estimate − truth, *measured*, beside the standard error that the server's own estimator states at the truth, *theory*. A ratio of 1 is the claim. Beside it is
what the true ratio lies between, with a probability of 99.99% (a χ² interval for a variance); ElGamal and two servers take tens of milliseconds a device, so their fleets are small and their intervals wide. *Bias* is the mean error in units of its own standard error; beyond 4.5 it would be no accident.
The first rows are the mechanisms by themselves, without encryption, with so many runs that a deviation of a few per cent would show.

Then the paper's own variants, run **with the noise that they print**. Its formula for the error of randomized response stays below 1.12·√n for every ε, which cannot be: with ε near 0 answers say nothing. Its Algorithm 3 spends ε₀ on each of two buckets that change: what that gives is found by going through all answers of a device. Its Algorithm 4 has noise of variance k·σ² where the sensitivity is k; both have a smaller
error than they are entitled to, and pay for it with privacy that they had promised. Algorithm 4 also forgets devices with more than k events, and Algorithm 3's loop, run in place and upwards, fills every slot at the first event ([errata](../errata.md)).
`,
  run: async (surroundings) => describeUtility(await runUtility(fullSize(), surroundings)),
};
