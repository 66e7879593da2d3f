import { type Randomness, withBufferedRandomness } from "@lethe/core/randomness";
import { mean, rootMeanSquare } from "../arithmetic/averages.ts";
import { lowerBounds } from "../baseline/bounds.ts";
import { createCounter, createFleetRun, type Fleet, type Scope, theoreticalError } from "../baseline/counters.ts";
import { expandedRandomness } from "../randomness/expanded-randomness.ts";
import type { Experiment, Surroundings } from "./experiment.ts";
import { whole } from "./figures.ts";
import { describeLowerBound } from "./lower-bound-finding.ts";
import { type Fit, fitSlope } from "./lower-bound-fit.ts";
import { ONE_IN, runLedgers } from "./lower-bound-fleet.ts";
import { wrapMarkdown } from "./wrap-markdown.ts";

/**
 * ln 3 = 1.09861…, rounded up. A ledger in Z_4 attains ln 3 exactly, and so do coins that are wrong once in four times.
 * So all counters are compared at the very same ε, and coins are cheap.
 */
const ASKED_EPSILON = 1.0987;
const FLIP = 0.25;

/** How much is run. */
export interface LowerBoundSize {
  readonly ticks: readonly number[];
  /** Of the counters without cryptography. All errors are stated for this number of devices. */
  readonly devices: number;
  /** Windows of all these devices, for each T. */
  readonly runs: number;
  /** Real Lethe devices, whose errors are scaled by √(devices/fleet). */
  readonly lethe: { readonly fleet: number; readonly metrics: number; readonly fleets: number };
}

const FULL: LowerBoundSize = {
  ticks: [1, 4, 16, 64, 256, 1024],
  devices: 20_000,
  runs: 250,
  lethe: { fleet: 16, metrics: 960, fleets: 4 },
};

/** The counters that are compared, by their names in the JSON. */
export const SERIES = ["informationTheoretic", "atMostOneEvent", "anyStreams", "lethe", "randomizedResponse"] as const;
/** One of the counters. */
export type Series = (typeof SERIES)[number];
type Errors = Readonly<Record<Series, number>>;

/** The roots of mean square errors at one T, in devices. */
export interface LowerBoundPoint extends Errors {
  readonly T: number;
  readonly devices: number;
  /** The number of devices on which the event happens, once. */
  readonly events: number;
  readonly theory: Errors;
  /** Mean error over its own standard error. */
  readonly bias: Errors;
  /** The paper's bound, with constant 1 and at most devices/2. */
  readonly lowerBound: number;
  /** Van Trees' bound, which is about an average over how many devices have the event. */
  readonly vanTrees: number;
}

/** All points, and a power law through those of each counter. */
export interface LowerBoundResult {
  readonly epsilon: number;
  readonly size: LowerBoundSize;
  readonly letheRuns: number;
  readonly points: readonly LowerBoundPoint[];
  readonly fits: Readonly<Record<Series, Fit>>;
}

/** Measures all counters at every T. */
export async function runLowerBound(
  size: LowerBoundSize,
  { random: source, progress }: Surroundings,
): Promise<LowerBoundResult> {
  const random = expandedRandomness(source);
  const advance = createProgress(size, progress);
  const points: LowerBoundPoint[] = [];
  for (const T of size.ticks) points.push(await measureAt(T, size, random, advance));
  const letheRuns = size.lethe.fleets * size.lethe.metrics;
  const fit = (series: Series): Fit =>
    fitSlope(
      points.map(({ T }) => T),
      points.map((point) => point[series]),
      series === "lethe" ? letheRuns : size.runs,
    );
  const fits = Object.fromEntries(SERIES.map((series) => [series, fit(series)])) as Record<Series, Fit>;
  return { epsilon: Math.log((1 - FLIP) / FLIP), size, letheRuns, points, fits };
}

async function measureAt(
  T: number,
  size: LowerBoundSize,
  random: Randomness,
  advance: (work: number) => void,
): Promise<LowerBoundPoint> {
  const { devices, runs, lethe } = size;
  const fleet: Fleet = { devices, events: Math.floor(devices / ONE_IN), ticks: T };
  const plain = { ...fleet, ticks: 1 };
  const measured = {
    informationTheoretic: measureCounter("zero-or-one", fleet, runs, random),
    atMostOneEvent: measureCounter("at-most-one", fleet, runs, random),
    anyStreams: measureCounter("any", fleet, runs, random),
    // The device keeps in the clear whether it has happened, and answers once.
    randomizedResponse: measureCounter("zero-or-one", plain, runs, random),
    lethe: await measureLethe(T, devices, lethe, random, () => advance(letheWork(T))),
  };
  const { paper, vanTrees } = lowerBounds(devices, T, FLIP);
  const per = (value: (of: Measured) => number): Errors =>
    Object.fromEntries(SERIES.map((series) => [series, value(measured[series])])) as Record<Series, number>;
  return {
    T,
    devices,
    events: fleet.events,
    ...per(({ error }) => error),
    theory: per(({ theory }) => theory),
    bias: per(({ bias }) => bias),
    lowerBound: paper,
    vanTrees,
  };
}

interface Measured {
  readonly error: number;
  readonly theory: number;
  readonly bias: number;
}

function measureCounter(scope: Scope, fleet: Fleet, runs: number, random: Randomness): Measured {
  const counter = createCounter(scope, FLIP);
  const errors = withBufferedRandomness(random, (buffered) => {
    const run = createFleetRun(counter, buffered);
    return Array.from({ length: runs }, () => run(fleet) - fleet.events);
  });
  return summarize(errors, theoreticalError(counter, fleet), 1);
}

async function measureLethe(
  ticks: number,
  devices: number,
  { fleet, metrics, fleets }: LowerBoundSize["lethe"],
  random: Randomness,
  step: () => void,
): Promise<Measured> {
  const question = { ticks, devices: fleet, metrics, fleets, localEpsilon: ASKED_EPSILON };
  const { errors, localEpsilon } = await runLedgers(question, random, step);
  // √(n·e^ε)/(e^ε−1), with the ε that the ledger attains.
  const theory = Math.sqrt(fleet) / (2 * Math.sinh(localEpsilon / 2));
  return summarize(errors, theory, Math.sqrt(devices / fleet));
}

function summarize(errors: readonly number[], theory: number, scale: number): Measured {
  return {
    error: scale * rootMeanSquare(errors),
    theory: scale * theory,
    bias: (mean(errors) / theory) * Math.sqrt(errors.length),
  };
}

/** The time that a device takes, in ticks: what does not depend on T takes as long as some forty ticks. */
function letheWork(ticks: number): number {
  return ticks + 40;
}

function createProgress({ ticks, lethe }: LowerBoundSize, progress: (share: number) => void): (work: number) => void {
  const perDevice = ticks.reduce((sum, T) => sum + letheWork(T), 0);
  const total = perDevice * lethe.fleet * lethe.fleets;
  let done = 0;
  return (work) => {
    done += work;
    progress(done / total);
  };
}

/** How the error grows with the window: counters without cryptography, and Lethe. */
export const lowerBound: Experiment = {
  about: wrapMarkdown(`
To hide events from anyone who opens the device, one could do without encryption: randomize every tick by itself, as it
happens, and keep only the sum. The paper proves that this has a price. Take any counter whose stored state is
differentially private in the information-theoretic sense, and let it count on how many of n devices something happened
in T ticks. Its error is at least of the order of √(nT·e^ε)/(e^ε−1) (thm:main_lb, for T ≥ 16e^ε). Randomized response
without that protection has an error of √(n·e^ε)/(e^ε−1). The gap is **√T**, and it is the reason why Lethe encrypts.
Lethe claims to have no gap at all: its error is that of randomized response, however long the window is.

Everything here is run, not only computed. **Without cryptography**, a device's state is a running count in the clear.
Its accuracy depends on which two streams an intruder must not tell apart:

- *No event or one*: every tick adds a randomized bit that is right with probability e^ε/(e^ε+1).
- *Any two streams with at most one event*: these may differ in two ticks. A tick with the event adds a 1 with
probability ½, a tick without it with probability 1/(e^ε+1), and the error is twice as large.
- *Any two streams at all*: the device picks one tick beforehand and keeps a randomized bit of that tick. The count is
scaled by T, so the error grows like T.

The paper's √T applies to the first two. The slope called \`informationTheoretic\` is that of the first, the best.
**Lethe** is the real ledger: keys, a write in each tick, a sealed report, opened by the server. Its slots are
independent counters, so a fleet of a few devices with many metrics gives many independent counts. The answers of
different devices are independent, too. So the errors of these few devices are multiplied by the square root of how many
times more devices the other counters have. **Plain randomized response** is a device that keeps the bit in the clear.

Two lower bounds are drawn beside them. The paper leaves the constant of its bound open. It is drawn with 1, and cut at
n/2, because always answering "half of them" is never worse than that (the paper forgets this minimum). The other bound
has all its constants, by van Trees' inequality. Suppose that the event happens with an unknown probability θ, and that
a final count holds Fisher information Ī about θ on average. Then the root of the mean square error is at least n/√(n·Ī
+ 4π²) − √n/2. This error is an average over θ, so the bound holds for some θ, not for every one. Here θ is one in ten.
The errors of the first counter and of Lethe are the same for every θ, so they may be compared with the bound. The proof
is in \`packages/lab/src/baseline/bounds.ts\`.

One device in ten has the event, once, at a random tick. All counters run at ε = ln 3: one bit in four is reported
wrongly. The event's tick must be random. If it were known, the randomized bit of that one tick would reveal as much as
if there were no other ticks, and the paper's statement about *two fixed* streams (thm:lower_bound) does not follow from
its lemma. What the paper says about errors stands. Slopes are fitted to the logarithms of error and T. With
${whole(FULL.devices)} devices, the points of the first two counters stay below n/2. Those of the third are fitted as
measured, and cut in the picture only.
`),
  run: async (surroundings) => describeLowerBound(await runLowerBound(FULL, surroundings)),
};
