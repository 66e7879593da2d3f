import type { Task } from "@lethe/core/message";

/** In turn, the groups of devices. */
export const GROUPS = ["north", "south"] as const;

/** A window of a year, so that nothing happens by the clock; answers as good as exact; every report has its place. */
export const PLAIN: Task = {
  version: 1,
  task: "kills",
  tickSeconds: 2_678_400,
  ticks: 12,
  graceSeconds: 0,
  mode: "two-server",
  scheme: "elgamal",
  minimumDevices: 1,
  groups: GROUPS,
  metrics: [
    { name: "told", statistic: "occurrence", localEpsilon: 20 },
    { name: "counted", statistic: "occurrence", noise: "servers", sigma: 0.05 },
  ],
};
/** The same with slots shared in the exponent; one of the categories counts. */
const AGAINST_COLLUSION: Task = {
  ...PLAIN,
  collusion: "one-server",
  metrics: [
    { name: "told", statistic: "occurrence", localEpsilon: 20 },
    { name: "counted", statistic: "choice", options: ["counted"], localEpsilon: 20 },
  ],
};
/** By what they say of collusion. */
export const TASKS = { none: PLAIN, "one-server": AGAINST_COLLUSION } as const;
