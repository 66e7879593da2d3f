import type { CollusionSpec, CollusionStatisticName, StatisticName, TwoServerSpec } from "../spec.ts";

const STATISTICS: { readonly [Name in CollusionStatisticName]: true } = {
  occurrence: true,
  histogram: true,
  choice: true,
  funnel: true,
};

/** Refuses with a `RangeError` a statistic and a noise that do not run where collusion is one-server, with the reason. */
export function requireAgainstCollusion(statistic: StatisticName, noise: unknown): void {
  if (!Object.hasOwn(STATISTICS, statistic)) {
    const possible = Object.keys(STATISTICS).join(", ");
    throw new RangeError(`statistic is one of ${possible} where collusion is one-server, not ${statistic}`);
  }
  if (noise === undefined || noise === "device") return;
  throw new RangeError(
    "noise is device where collusion is one-server: true answers must stay unopened, and what is unopened cannot be " +
      `checked, so one device that sends 2^200 would ruin a window; leave noise and sigma out, not ${String(noise)}`,
  );
}

/** Whether a device runs this against an intruder who has the keys of one server. A `RangeError` if it cannot. */
export function isAgainstCollusion(spec: TwoServerSpec): spec is CollusionSpec {
  if (!("collusion" in spec)) return false;
  if (spec.collusion !== "one-server") {
    throw new RangeError(`collusion is none or one-server, not ${String(spec.collusion)}`);
  }
  requireAgainstCollusion(spec.statistic, spec.noise);
  return true;
}
