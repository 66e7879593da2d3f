import type { Randomness } from "../../randomness/index.ts";
import { drawDiscreteLaplace } from "../discrete-laplace.ts";

/** What publishing how many reports were found invalid costs a release, in ε. */
export const INVALID_COUNT_EPSILON = 0.1;

/** One device's report, changed, may turn one report valid and another invalid: it moves both counts. */
const SENSITIVITY = 2;

/**
 * The number of reports that were opened and found invalid, as it may be published. An intruder who shapes a hijacked
 * report so that its validity depends on a secret learns no more than ε from it [DwMNS06]: discrete Laplace noise with
 * ratio e^{−ε/2}, drawn exactly, ε = 1/10.
 *
 * [DwMNS06] Dwork, McSherry, Nissim, Smith, Calibrating noise to sensitivity in private data analysis, 2006.
 */
export function noisedInvalidCount(invalid: number, random: Randomness): number {
  return invalid + Number(drawDiscreteLaplace(random, 1n, BigInt(SENSITIVITY * 10)));
}

/** The standard deviation of that noise: √(2r)/(1 − r), r = e^{−ε/2}. */
export const INVALID_COUNT_STANDARD_ERROR: number = Math.SQRT1_2 / Math.sinh(INVALID_COUNT_EPSILON / SENSITIVITY / 2);
