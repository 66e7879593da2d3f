import {
  encodeOperatorKey,
  type Lost,
  type Manifest,
  type Metric,
  type Release,
  type ReleaseOrWithheld,
  type Task,
  type Withheld,
} from "@lethe/core/message";
import { entryOf } from "@lethe/core/statistic";
import type { WindowShare } from "@lethe/core/two-server";

/*
 * A valid example of every message in JSON. `one-description.test.ts` shows that core's readers and the OpenAPI description
 * take them, and that there is one of every statistic; the fuzz tests begin with them.
 */

const COMMON = { version: 1, task: "editor-health", tickSeconds: 60, ticks: 3, graceSeconds: 10, minimumDevices: 5 };
const ONE = { ...COMMON, mode: "one-server" } as const;
const TWO = { ...COMMON, mode: "two-server" } as const;

const HISTOGRAM = { name: "saves", statistic: "histogram", edges: [0, 1, 5], localEpsilon: 1 } as const;
const MEAN = { name: "tabs", statistic: "mean", limit: 5, sigma: 3 } as const;
const TABLE = {
  states: ["idle", "tried"],
  start: "idle",
  transitions: { idle: { "trial.started": ["tried", "idle", "tried"] }, tried: { paid: "idle" } },
  periodTicks: 1,
} as const;
const AUTOMATA: readonly Metric[] = [
  { name: "checkout", statistic: "funnel", steps: ["cart.opened", "paid"], localEpsilon: 1 },
  { name: "format", statistic: "choice", options: ["pdf", "png"], keep: "last", localEpsilon: 1, mechanism: "kary" },
  { name: "days", statistic: "active-periods", event: "paid", periodTicks: 1, edges: [0, 1, 3], localEpsilon: 1 },
  { name: "weeks", statistic: "retention", event: "paid", periods: 3, localEpsilon: 1 },
  {
    name: "both",
    statistic: "joint",
    of: [
      { statistic: "occurrence", event: "paid" },
      { statistic: "histogram", event: "saves", edges: [0, 1] },
    ],
    localEpsilon: 1,
  },
  {
    name: "trial",
    statistic: "automaton",
    ...TABLE,
    outputs: { idle: "none", tried: "a trial" },
    ends: { tried: "idle" },
    localEpsilon: 1,
  },
  {
    name: "trials",
    statistic: "automaton",
    ...TABLE,
    outputs: { idle: -1, tried: 4 },
    ends: [{ tried: "idle" }, {}, { idle: "tried" }],
    sigma: 2,
  },
];
/** One of every form that a metric can have. */
export const TOLD: readonly Metric[] = [
  { name: "crashed", statistic: "occurrence", localEpsilon: 1 },
  { ...HISTOGRAM, mechanism: "unary", quantiles: [0.25, 0.5], event: "saved" },
  MEAN,
  ...AUTOMATA,
];
const TOLD_TO_TWO = TOLD.filter(({ statistic }) => entryOf(statistic).run.twoServers);
const GUARDED: readonly Metric[] = [
  { name: "crashed", statistic: "occurrence", localEpsilon: 1 },
  { name: "saves", statistic: "histogram", edges: [0, 1, 5], localEpsilon: 1, mechanism: "kary" },
  { name: "format", statistic: "choice", options: ["pdf", "png"], keep: "last", localEpsilon: 1 },
  { name: "checkout", statistic: "funnel", steps: ["cart", "paid"], localEpsilon: 1 },
];
export const COUNTED: readonly Metric[] = [
  { name: "failed", statistic: "occurrence", noise: "servers", sigma: 4 },
  { name: "opened", statistic: "histogram", noise: "servers", edges: [0, 1], sigma: 4 },
];

export const TASKS: Readonly<Record<string, Task>> = {
  "of one server": { ...ONE, metrics: TOLD },
  "on elgamal": { ...ONE, scheme: "elgamal", hides: 7, missing: 0.25, metrics: TOLD },
  "with schemes of its metrics": {
    ...ONE,
    hides: 2,
    metrics: [
      { name: "crashed", statistic: "occurrence", localEpsilon: 1, scheme: "elgamal" },
      { ...HISTOGRAM, scheme: "lattice", eventsPerTick: 2 },
      { ...MEAN, scheme: "lattice", eventsPerTick: 1 },
    ],
  },
  "of two servers": { ...TWO, metrics: [...TOLD_TO_TWO, ...COUNTED] },
  "against collusion": { ...TWO, collusion: "one-server", metrics: GUARDED },
  "with groups": { ...ONE, scheme: "elgamal", groups: ["stable", "beta"], metrics: TOLD },
};

const KEYS = [1, 2].map((byte) => encodeOperatorKey(new Uint8Array(32).fill(byte))) as [string, string];
const SERVERS: Readonly<Record<Task["mode"], Manifest["servers"]>> = {
  "one-server": [{ role: "tally", url: "https://tally.example", key: KEYS[0] }],
  "two-server": [
    { role: "leader", url: "https://leader.example", key: KEYS[0] },
    { role: "helper", url: "https://helper.example", key: KEYS[1] },
  ],
};
export const manifestOf = (task: Task): Manifest => ({ ...task, fromWindow: 3, servers: SERVERS[task.mode] });

const OUTCOME = {
  task: "editor-health",
  version: 1,
  window: 7,
  from: 1260,
  to: 1440,
  at: 1450,
  enrolled: 9,
  received: 6,
  refused: { "rate-limited": 2 },
};
const FIGURE = { estimate: -1.5, standardError: 2, interval: [-5.4, 2.4], consistent: 0 } as const;
const BUCKETS = [{ bucket: "paid × pdf", ...FIGURE }];
const GUARANTEE = { mechanism: "kary", localEpsilon: 1, epsilon: 0.2, delta: 1e-6, bound: "upper" } as const;
export const RELEASE: Release = {
  status: "released",
  ...OUTCOME,
  invalid: { estimate: -1, standardError: 3, epsilon: 0.5 },
  metrics: [
    { name: "crashed", statistic: "occurrence", ...GUARANTEE, ...FIGURE },
    {
      name: "saves",
      statistic: "histogram",
      ...GUARANTEE,
      buckets: [{ bucket: "0", ...FIGURE }],
      quantiles: [{ q: 0.5, bucket: "0", low: "0", high: "1+" }],
    },
    { name: "tabs", statistic: "mean", ...GUARANTEE, ...FIGURE },
    { name: "checkout", statistic: "funnel", ...GUARANTEE, buckets: BUCKETS, reached: BUCKETS },
    { name: "format", statistic: "choice", ...GUARANTEE, buckets: BUCKETS },
    { name: "days", statistic: "active-periods", ...GUARANTEE, buckets: BUCKETS },
    { name: "weeks", statistic: "retention", ...GUARANTEE, buckets: BUCKETS, curve: [{ period: 1, ...FIGURE }] },
    { name: "both", statistic: "joint", ...GUARANTEE, buckets: BUCKETS, margins: BUCKETS },
    { name: "trial", statistic: "automaton", ...GUARANTEE, buckets: BUCKETS },
    { name: "trials", statistic: "automaton", ...GUARANTEE, ...FIGURE },
  ],
  privacy: {
    local: { epsilon: 3, delta: 1e-6 },
    aggregate: { epsilon: 1, delta: 1e-6, bound: "upper" },
    hijackedEpsilon: null,
    honest: 5,
  },
};
const WITHHELD: Withheld = { status: "not-enough", ...OUTCOME, missing: 3 };
const LOST: Lost = { status: "lost", ...OUTCOME };
const COUNTS = { enrolled: 9, received: 6 };
const WITHHELD_GROUP = { group: "beta", status: "not-enough", ...COUNTS, missing: 2 } as const;
const { consistent: __, ...UNBOUNDED } = FIGURE;
const DIFFERENCE = { ...UNBOUNDED, pValue: 0.04 };
export const RELEASES: Readonly<Record<string, ReleaseOrWithheld>> = {
  released: RELEASE,
  "released, in groups": {
    ...RELEASE,
    devices: 6,
    groups: [{ group: "stable", status: "released", ...COUNTS, metrics: RELEASE.metrics }, WITHHELD_GROUP],
    differences: [
      {
        group: "beta",
        minus: "stable",
        metrics: [
          { name: "crashed", statistic: "occurrence", ...DIFFERENCE },
          { name: "saves", statistic: "histogram", buckets: [{ bucket: "0", ...DIFFERENCE }] },
        ],
      },
    ],
  } satisfies Release,
  "not enough, in any group": { ...WITHHELD, groups: [WITHHELD_GROUP] } satisfies Withheld,
  "released, with a plain sum of ε": {
    ...RELEASE,
    privacy: { ...RELEASE.privacy, local: { sum: 3, epsilon: 3, delta: 0 }, hijackedEpsilon: 2 },
  },
  "not enough": WITHHELD,
  lost: LOST,
};

const { refused: _, enrolled, ...counted } = OUTCOME;
const SHARE = {
  ...counted,
  manifestHash: new Uint8Array(32),
  reports: new Uint8Array(32).fill(1),
  share: new Uint8Array(16).fill(2),
};
export const SHARES: Readonly<Record<string, WindowShare>> = {
  leader: { role: "leader", enrolled, invalid: -2, ...SHARE },
  helper: { role: "helper", ...SHARE },
  "leader, in groups": {
    ...{ role: "leader", enrolled, invalid: -2, ...SHARE },
    groups: [{ group: "stable", ...COUNTS }],
  },
  "helper, in groups": { role: "helper", ...SHARE, groups: [{ group: "stable", received: 6 }] },
};
