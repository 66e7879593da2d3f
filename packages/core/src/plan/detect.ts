import { LEAST_EPSILON, MOST_EPSILON } from "../privacy/epsilon.ts";
import type { SchemeName } from "../statistic/spec.ts";
import { entryOf } from "../statistic/table.ts";
import { planMetric } from "./metric.ts";
import { parametersFor } from "./parameters.ts";
import { planTwoServerMetric, type TwoServerQuestion } from "./two-server.ts";

/** A fleet, and what is to be seen of it. */
export interface DetectQuestion extends Omit<TwoServerQuestion, "goal" | "reporting" | "patience"> {
  /** The true count, or the mean, that shall stand out from zero at 95%. */
  readonly detect: number;
  /** Of a local guarantee that has one. */
  readonly delta: number;
  readonly mode: "one-server" | "two-server";
  /** With one server; that of the statistic if absent. */
  readonly scheme?: SchemeName;
}

/**
 * The least ε₀, up to four digits, with which a plan's `detectable` is at most `detect`. With noise at the servers it is
 * their ε, for which that of one device is another name. Refuses with a `RangeError` what no ε₀ makes visible.
 *
 * The errors are the planner's. They fall as ε₀ rises, but for small steps where the planner changes the mechanism of a
 * histogram; so bisection finds an ε₀ that detects next to one that does not. Then ε₀ is rounded up, and raised until
 * what is built detects as well: a ledger attains a little less ε₀ than it is asked for.
 */
export function localEpsilonToDetect(question: DetectQuestion): number {
  const { detect } = question;
  checkDetect(question);
  const most = MOST_EPSILON;
  const least = detectableAt(question, most);
  if (least > detect) {
    throw new RangeError(`detect is at least ${Number(least.toPrecision(4))} here, where ε₀ is ${most}, not ${detect}`);
  }
  const isEnough = (localEpsilon: number): boolean => isVisible(question, localEpsilon);
  let [low, high] = [LEAST_EPSILON, most];
  while (high > low * (1 + PRECISION)) {
    const middle = Math.sqrt(low * high);
    if (isEnough(middle)) high = middle;
    else low = middle;
  }
  for (let found = roundedUp(high); found < most; found = roundedUp(found * (1 + STEP))) {
    if (isEnough(found) && isEnough(attained(question, found))) return found;
  }
  return most;
}

/** A metric with its noise, and what is to be seen of it. */
export interface DevicesQuestion extends Omit<TwoServerQuestion, "reporting" | "patience"> {
  /** As in `DetectQuestion`; a count is one of `devices`, and stands for its share of any other number. */
  readonly detect: number;
  readonly mode: "one-server" | "two-server";
}

/**
 * The fewest devices, up to four digits, of which the same share stands out from zero at 95%; for an average, the same
 * value. Refuses with a `RangeError` what a billion devices do not make visible. The error of a share falls as the
 * number of devices rises.
 */
export function devicesToDetect({ detect, mode, ...question }: DevicesQuestion): number {
  checkDetect({ ...question, detect });
  const planFor = mode === "two-server" ? planTwoServerMetric : planMetric;
  const isAverage = entryOf(question.statistic).answers.output(question) === "average";
  const isEnough = (devices: number): boolean => {
    const { detectable } = planFor({ ...question, devices, reporting: 1, patience: 1 });
    return detectable <= (isAverage ? detect : (detect / question.devices) * devices * (1 + 1e-12));
  };
  if (!isEnough(MOST_DEVICES)) {
    throw new RangeError(`detect is too little: not even ${MOST_DEVICES} devices make ${detect} visible`);
  }
  let [low, high] = [0, MOST_DEVICES];
  while (high - low > 1 && high > low * (1 + PRECISION)) {
    const middle = Math.floor((low + high) / 2);
    if (isEnough(middle)) high = middle;
    else low = middle;
  }
  // Counts that stand out are whole, which makes small steps.
  for (let found = roundedUp(high); found < MOST_DEVICES; found = roundedUp(found * (1 + STEP))) {
    if (isEnough(Math.ceil(found))) return Math.ceil(found);
  }
  return MOST_DEVICES;
}

const MOST_DEVICES = 1e9;
const PRECISION = 1e-5;
const STEP = 2e-3;

/** Errors are those of all devices, so that guarantees, which take long for many, need not be computed. */
function questionAt({ detect: _, delta, mode: __, scheme: ___, ...question }: DetectQuestion, localEpsilon: number) {
  return { ...question, reporting: 1, patience: 1, goal: { localEpsilon, delta } };
}

function planAt(question: DetectQuestion, localEpsilon: number) {
  const planFor = question.mode === "two-server" ? planTwoServerMetric : planMetric;
  return planFor(questionAt(question, localEpsilon));
}

function detectableAt(question: DetectQuestion, localEpsilon: number): number {
  return planAt(question, localEpsilon).detectable;
}

/** Whether it stands out. Noise that is too wide to be drawn hides everything. */
function isVisible(question: DetectQuestion, localEpsilon: number): boolean {
  try {
    return detectableAt(question, localEpsilon) <= question.detect;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return false;
  }
}

/** The ε₀ that devices have which are built for this one. Noise of servers is drawn as planned. */
function attained(question: DetectQuestion, localEpsilon: number): number {
  const { spec } = planAt(question, localEpsilon);
  if ("noise" in spec && spec.noise === "servers") return localEpsilon;
  const { devices, delta, scheme } = question;
  return Math.min(localEpsilon, parametersFor(spec, devices, delta, scheme).localEpsilon);
}

function checkDetect(question: Omit<DevicesQuestion, "goal" | "mode">): void {
  const { statistic, detect } = question;
  const { plan, answers } = entryOf(statistic);
  const most = plan.rangeOf(question);
  if (detect > 0 && detect <= most) return;
  const what =
    answers.output(question) === "average" ? "a mean up to the limit" : "a number of devices up to all of them";
  throw new RangeError(`detect is ${what}, ${most}, not ${detect}`);
}

/** To four digits. */
function roundedUp(value: number): number {
  const unit = 10 ** (Math.floor(Math.log10(value)) - 3);
  return Number((Math.ceil(value / unit - 1e-9) * unit).toPrecision(4));
}
