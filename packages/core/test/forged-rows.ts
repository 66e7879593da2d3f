import { type DeviceKeyContext, secret } from "../src/encryption/index.ts";
import { type Metric, parseTask } from "../src/message/index.ts";
import { planTask } from "../src/plan/index.ts";
import { clampOf, createDiscreteGaussian } from "../src/privacy/index.ts";
import { randomnessFrom } from "../src/randomness/index.ts";
import { sharingContext } from "../src/sharing/shared-bit.ts";
import { createStatistic } from "../src/statistic/create.ts";
import { createTwoServerStatistic } from "../src/statistic/create-two-server.ts";
import { planRotationHistogram } from "../src/statistic/histogram/rotation.ts";
import { planRotationMean } from "../src/statistic/mean/rotation.ts";
import { planLedger } from "../src/statistic/occurrence/ledger.ts";
import type { SchemeName, StatisticSpec, TwoServerSpec } from "../src/statistic/spec.ts";
import type { DeviceSide, OpenedReport, ServerSide } from "../src/statistic/statistic.ts";
import {
  type Forge,
  forgeElGamal,
  forgeLedger,
  forgeRotationBuckets,
  forgeRotationKary,
  forgeRotationMean,
  forgeSharedBits,
} from "./forger.ts";
import {
  binomial,
  type Distribution,
  epsilonReached,
  gaussian,
  mixed,
  pairOf,
  shifted,
  sumOf,
  sumOfMany,
  twoBuckets,
} from "./released-sums.ts";
import { deviceNumber, issueKeys, openBits, verify, WINDOW } from "./two-server.ts";

/** Of what is documented, and of what is reached. */
export const DELTA = 1e-6;
export const HONEST = 999;
const MINIMUM = HONEST + 1;
export const TICKS = 2;
const random = randomnessFrom(globalThis.crypto);
const master = secret(new Uint8Array(32).fill(7));
const context: DeviceKeyContext = {
  task: "forged",
  window: 0,
  device: deviceNumber(8),
  role: "tally",
  index: 0,
};

const FOUR = [0, 1, 2, 5];
const SIXTEEN = Array.from({ length: 16 }, (_, i) => i);
const counting = { ticks: TICKS, hides: 0, eventsPerTick: 1 } as const;

/** Of the first metric, and of the task, if a report of it is hijacked. */
interface Documented {
  readonly aggregate: number;
  readonly hijacked: number;
}

/** The documented figures of a task with these metrics: what every release of it states. */
export function documented(mode: "one-server" | "two-server", ...metrics: readonly object[]): Documented {
  const question = JSON.stringify([mode, metrics]);
  const answered = known.get(question);
  if (answered) return answered;
  const task = parseTask(
    JSON.stringify({
      version: 1,
      task: "forged",
      tickSeconds: 300,
      ticks: TICKS,
      hides: 0,
      graceSeconds: 0,
      mode,
      scheme: "elgamal",
      minimumDevices: MINIMUM,
      metrics: metrics.map((metric, i) => ({ name: `m${i}`, ...metric })),
    }),
  );
  const { metrics: priced, perWindow } = planTask({ task, devices: MINIMUM, delta: DELTA, windows: 1 });
  const figures = { aggregate: priced[0]?.epsilon as number, hijacked: perWindow.hijackedEpsilon };
  known.set(question, figures);
  return figures;
}

/** Pricing takes seconds, and schemes do not differ in it. */
const known = new Map<string, Documented>();

interface Capture {
  readonly publicKey: Uint8Array;
  readonly stored: Uint8Array;
}

/** What a device holds after `events` events of metric 0, and one write. */
function capture(device: DeviceSide, publicKey: Uint8Array, events: number): Capture {
  const recorder = device.start(publicKey, random);
  for (let i = 0; i < events; i++) recorder.record(0);
  return { publicKey, stored: recorder.write() as Uint8Array };
}

export type Opens = (forge: Forge, events: number) => OpenedReport;

/** A device of one server, captured, and its forged report as the server opens it. */
export function atOneServer({
  device,
  server,
}: {
  readonly device: DeviceSide;
  readonly server: Pick<ServerSide, "issueKey" | "open">;
}): Opens {
  return (forge, events) => {
    const { publicKey, stored } = capture(device, server.issueKey(master, context), events);
    return server.open(master, context, forge(publicKey, stored, random), random);
  };
}

const onScheme = (scheme: SchemeName, spec: StatisticSpec): Opens => atOneServer(createStatistic(scheme, spec));

/** The same of two servers, which verify together; what their shares add up to is the answer. */
function atTwoServers(spec: TwoServerSpec): Opens {
  const statistic = createTwoServerStatistic(spec);
  const id = deviceNumber(9);
  return (forge, events) => {
    const { publicKey, stored } = capture(statistic.device(sharingContext(WINDOW)), issueKeys(id), events);
    const { valid, answers } = verify([statistic], openBits(id, forge(publicKey, stored, random)));
    return { valid, answers: valid ? answers() : [] };
  };
}

interface Row {
  readonly name: string;
  /** Who prices it: with noise at the devices, two servers are priced as one. */
  readonly mode?: "two-server";
  readonly metric: DistributiveOmit<Metric, "name" | "eventsPerTick">;
  readonly opens: Opens;
  readonly forge: Forge;
  /** What the report opens as without an event, and with one. */
  readonly none: readonly number[];
  readonly one: readonly number[];
  /** How likely it is `one` after an event, else it is `none`: 1 unless the state itself has a coin in it. */
  readonly share?: number;
  readonly reached: (share: number) => number;
}
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** Of a figure that a forged report moves by `by`, from what it is without. */
export const reachedBy =
  (by: number, ...sums: readonly Distribution[]) =>
  (share: number): number =>
    sums.reduce((most, sum) => Math.max(most, epsilonReached(sum, mixed(sum, shifted(sum, by), share), DELTA)), 0);

export const flipOf = (localEpsilon: number): number => 1 / (1 + Math.exp(localEpsilon));

/** Nobody holds a 1, everybody does, or half of them do. */
export function responses(flip: number): Distribution[] {
  const half = sumOf(binomial(500, flip), binomial(HONEST - 500, 1 - flip)).sum;
  return [binomial(HONEST, flip), binomial(HONEST, 1 - flip), half];
}

/** All honest devices are in a third bucket: the counts of the two in question, for K-ary response. */
export function reachedKary(buckets: number, localEpsilon: number): (share: number) => number {
  return () => {
    const columns = HONEST + 2;
    const counts = twoBuckets(HONEST, 1 / (Math.exp(localEpsilon) + buckets - 1), columns);
    return epsilonReached(shifted(counts, columns), shifted(counts, 1), DELTA);
  };
}

/**
 * All buckets' counts added up, which shows no more than they do: what a device's bits add up to is the same for all
 * buckets it may be in.
 */
export function reachedBuckets(buckets: number, one: number, zero: number): (share: number) => number {
  const { sum } = sumOf(binomial(HONEST, one), binomial(HONEST * (buckets - 1), zero));
  return reachedBy(buckets, sum);
}

export function reachedMean(limit: number, sigma: number): (share: number) => number {
  const { sigma2 } = createDiscreteGaussian(sigma * limit);
  const clamp = clampOf({ sigma2 });
  const sums = [0, limit].map((held) => sumOfMany(gaussian(sigma2, [-clamp - held, limit + clamp - held]), HONEST));
  return reachedBy(limit + 2 * clamp, ...sums);
}

export const bit = (constant: number, factor: number, slot = 0) => ({ constant, factors: new Map([[slot, factor]]) });
const times = (count: number, value: number): number[] => new Array<number>(count).fill(value);

export const occurrence = (localEpsilon: number) => ({ statistic: "occurrence", localEpsilon }) as const;
const histogram = (edges: readonly number[], mechanism: "kary" | "unary" | "per-bucket") =>
  ({ statistic: "histogram", edges, localEpsilon: 1, mechanism }) as const;
export const mean = { statistic: "mean", limit: 10, sigma: 2 } as const;
export const CLAMP = clampOf(createDiscreteGaussian(20));
const ends = { none: [-CLAMP], one: [10 + CLAMP] };

const unaryReached = reachedBuckets(16, 1 / 2, flipOf(1));
const perBucketReached = reachedBuckets(16, 1 - flipOf(1 / 2), flipOf(1 / 2));

function occurrenceRows(localEpsilon: number): Row[] {
  const metric = occurrence(localEpsilon);
  const spec = { statistic: "occurrence", ticks: TICKS, hides: 0, localEpsilons: [localEpsilon] } as const;
  const ledger = planLedger(spec);
  const { flip } = ledger.responses[0] as { flip: number };
  const bits = { none: [0], one: [1] };
  const twoServer = { ...spec, noise: "device" } as const;
  const reached = reachedBy(1, ...responses(flipOf(localEpsilon)));
  return [
    {
      name: `occurrence, lattice, ε₀ = ${localEpsilon}`,
      metric,
      opens: onScheme("lattice", spec),
      forge: forgeLedger(ledger),
      ...bits,
      share: 1 - flip,
      reached: reachedBy(1, ...responses(flip)),
    },
    {
      name: `occurrence, ElGamal, ε₀ = ${localEpsilon}`,
      metric,
      opens: onScheme("elgamal", spec),
      forge: forgeElGamal(spec, [bit(0, 1)]),
      ...bits,
      reached,
    },
    {
      name: `occurrence, two servers, ε₀ = ${localEpsilon}`,
      metric,
      opens: atTwoServers(twoServer),
      forge: forgeSharedBits(WINDOW, [0]),
      ...bits,
      reached,
    },
  ];
}

function karyRows(): Row[] {
  const metric = histogram(FOUR, "kary");
  const spec = { ...metric, ...counting };
  const buckets = { none: [1, 0, 0, 0], one: [0, 1, 0, 0], reached: reachedKary(4, 1) };
  // The bits of a state of edges 0, 1, 2, 5: [count + k is 1], k ≤ 1; [count + k is 2 … 4], k ≤ 4; [count + k ≥ 5], k ≤
  // 4.
  const fronts = [1, 0, 2, 7];
  return [
    {
      name: "histogram, kary, 4 buckets, lattice",
      metric,
      opens: onScheme("lattice", spec),
      forge: forgeRotationKary(planRotationHistogram(spec)),
      ...buckets,
    },
    {
      name: "histogram, kary, 4 buckets, ElGamal",
      metric,
      opens: onScheme("elgamal", spec),
      forge: forgeElGamal(spec, [bit(0, 1, 0), bit(0, 1, 1), bit(0, 1, 2), bit(0, 1, 5)]),
      ...buckets,
    },
    {
      name: "histogram, kary, 4 buckets, two servers",
      metric,
      opens: atTwoServers({ ...spec, noise: "device" }),
      forge: forgeSharedBits(WINDOW, fronts),
      ...buckets,
    },
  ];
}

function bucketRows(mechanism: "unary" | "per-bucket", reached: (share: number) => number): Row[] {
  const metric = histogram(SIXTEEN, mechanism);
  const spec = { ...metric, ...counting };
  const vectors = { none: times(16, 0), one: times(16, 1), reached };
  return [
    {
      name: `histogram, ${mechanism}, 16 buckets, lattice`,
      metric,
      opens: onScheme("lattice", spec),
      forge: forgeRotationBuckets(planRotationHistogram(spec)),
      ...vectors,
      // Unary encoding's coin ρ is in the state.
      share: mechanism === "unary" ? 1 / 2 : 1,
    },
    {
      name: `histogram, ${mechanism}, 16 buckets, ElGamal`,
      metric,
      opens: onScheme("elgamal", spec),
      // 1 − "no event", in every bucket.
      forge: forgeElGamal(
        spec,
        SIXTEEN.map(() => bit(1, -1)),
      ),
      ...vectors,
    },
    {
      name: `histogram, ${mechanism}, 16 buckets, two servers`,
      metric,
      opens: atTwoServers({ ...spec, noise: "device" }),
      // The last bit of the last line is [count + 14 ≥ 15], copied.
      forge: forgeSharedBits(WINDOW, times(16, -1)),
      ...vectors,
    },
  ];
}

function meanRows(): Row[] {
  const spec = { ...mean, ...counting };
  // With more ticks there is more room for the noise that large factors make of a ciphertext's.
  const longer = { ...spec, ticks: 50 };
  const reached = reachedMean(10, 2);
  return [
    {
      name: "mean, limit 10, σ 2, lattice",
      metric: mean,
      opens: onScheme("lattice", longer),
      forge: forgeRotationMean(planRotationMean(longer), -CLAMP, 10 + CLAMP),
      ...ends,
      reached,
    },
    {
      name: "mean, limit 10, σ 2, ElGamal",
      metric: mean,
      opens: onScheme("elgamal", spec),
      forge: forgeElGamal(spec, [bit(-CLAMP, 10 + 2 * CLAMP)]),
      ...ends,
      reached,
    },
  ];
}

/** The noise of one server: the other may be the intruder, and subtract its own. */
function serverNoiseRows(): Row[] {
  const sigma = 5;
  const noise = gaussian(createDiscreteGaussian(sigma).sigma2);
  const columns = noise.length + 1;
  const pair = pairOf(noise, noise, columns);
  const servers = { noise: "servers", sigma } as const;
  return [
    {
      name: "occurrence, noise at two servers, σ 5",
      mode: "two-server",
      metric: { statistic: "occurrence", ...servers },
      opens: atTwoServers({ statistic: "occurrence", noise: "servers", ticks: TICKS, sigmas: [sigma] }),
      forge: forgeSharedBits(WINDOW, [0]),
      none: [0],
      one: [1],
      reached: reachedBy(1, noise),
    },
    {
      name: "histogram, noise at two servers, σ 5",
      mode: "two-server",
      metric: { statistic: "histogram", edges: FOUR, ...servers },
      opens: atTwoServers({ statistic: "histogram", edges: FOUR, ...counting, ...servers }),
      forge: forgeSharedBits(WINDOW, [1, 0, 2, 7]),
      none: [1, 0, 0, 0],
      one: [0, 1, 0, 0],
      reached: () => epsilonReached(shifted(pair, columns), shifted(pair, 1), DELTA),
    },
    {
      name: "mean, limit 10, noise at two servers, σ 5",
      mode: "two-server",
      metric: { statistic: "mean", limit: 10, sigma },
      opens: atTwoServers({ statistic: "mean", limit: 10, ...counting, ...servers }),
      // "At least one event", ten times over.
      forge: forgeSharedBits(WINDOW, times(10, 0)),
      none: [0],
      one: [10],
      reached: reachedBy(10, gaussian(createDiscreteGaussian(sigma * 10).sigma2)),
    },
  ];
}

export const ROWS: readonly Row[] = [
  ...occurrenceRows(1),
  ...occurrenceRows(0.1),
  ...karyRows(),
  ...bucketRows("unary", unaryReached),
  ...bucketRows("per-bucket", perBucketReached),
  ...meanRows(),
  ...serverNoiseRows(),
];
