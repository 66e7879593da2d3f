/**
 * `lethe audit`: compares what devices stored with events to what devices stored without. `audit.ts` runs all tests and
 * sets their level, `captures.ts` reads the folders, `kolmogorov-smirnov.ts` is the exact test of two samples, and
 * `telling-place.ts` looks for one byte or bit. Imports core and, for its distinguishers and its classifier,
 * `intrusion`. Start with `audit` below.
 */
import { realpathSync } from "node:fs";
import { trainClassifier } from "../intrusion/logistic-regression.ts";
import { VERSION_DISTINGUISHERS } from "../intrusion/version-distinguishers.ts";
import { type Capture, deviceEntries, readCapture } from "./captures.ts";
import { chanceOfAdvantage, detectableAdvantage, fewestFor, largestAdvantage } from "./kolmogorov-smirnov.ts";
import { findTellingPlace, stripsOf } from "./telling-place.ts";

/** What an audit found. */
export interface AuditResult {
  readonly verdict: "distinguishable" | "nothing found";
  readonly devices: { readonly with: number; readonly without: number };
  /** The least probable by chance first. */
  readonly tests: readonly AuditTest[];
  /** If the devices cannot be distinguished, at most this share of audits says that they can. */
  readonly falseAlarms: number;
  /** An advantage of at least this size in any of the numbers is found with probability `power`. */
  readonly detectable: number;
  readonly power: number;
}

/** One test of an audit. */
export interface AuditTest {
  readonly distinguisher: string;
  /** For a byte or a bit: which one, of which file. */
  readonly where?: string;
  /** The advantage of the best threshold in these captures. */
  readonly advantage: number;
  /** At most the probability that chance alone gives this advantage or a larger one. */
  readonly probability: number;
  readonly tells: boolean;
  /** The advantage that this test finds with probability `power`. Absent if there are too few devices to find any. */
  readonly detectable?: number;
}

const FALSE_ALARMS = 0.01;
const POWER = 0.99;
const PLACES = ["one byte", "one bit"] as const;
const CLASSIFIER = "classifier";

/** Numbers about sizes and times. */
const SHAPES: Readonly<Record<string, (capture: Capture) => number>> = {
  "number of versions": ({ versions }) => versions.length,
  "bytes of all versions": ({ versions }) => versions.reduce((sum, { length }) => sum + length, 0),
  "largest version": ({ versions }) => largest(versions.map(({ length }) => length)),
  "smallest version": ({ versions }) => smallest(versions.map(({ length }) => length)),
  "time from first to last": ({ times }) => largest(times) - smallest(times),
  "longest time between writes": ({ times }) => largest(gaps(times)),
  "shortest time between writes": ({ times }) => smallest(gaps(times)),
};

const NUMBERS: Readonly<Record<string, (capture: Capture) => number>> = {
  ...SHAPES,
  ...Object.fromEntries(
    Object.entries(VERSION_DISTINGUISHERS).map(([name, of]) => [name, ({ versions }: Capture) => of(versions)]),
  ),
};

/** The level of each test, so that all together raise false alarms with probability `FALSE_ALARMS` at most. */
const LEVEL: number = FALSE_ALARMS / (Object.keys(NUMBERS).length + PLACES.length + 1);

const largest = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), 0);
const smallest = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b), values[0] ?? 0);

function gaps(times: readonly number[]): number[] {
  return times.slice(1).map((time, i) => time - (times[i] as number));
}

/** What an audit keeps of a device after it has read it. */
interface Device {
  readonly numbers: readonly number[];
  readonly strips: readonly Uint8Array[];
}

/**
 * Tests whether stored data distinguishes devices on which something happened from devices on which it did not. All
 * tests are exact, and they hold together: if nothing distinguishes the devices, at most one audit in a hundred finds
 * something.
 */
export function audit(withEvents: string, without: string, progress: (share: number) => void = () => {}): AuditResult {
  const folders = [deviceEntries(withEvents), deviceEntries(without)] as const;
  if (realpathSync(withEvents) === realpathSync(without)) throw new RangeError("both folders are the same");
  requireEnough(withEvents, folders[0].length);
  requireEnough(without, folders[1].length);
  const total = folders[0].length + folders[1].length;
  let read = 0;
  const [happened, nothing] = folders.map((paths) =>
    paths.map((path) => {
      const device = deviceOf(readCapture(path));
      progress((READING * ++read) / total);
      return device;
    }),
  ) as [Device[], Device[]];
  return judge(happened, nothing, (share) => progress(READING + (1 - READING) * share));
}

/** The share of the time that reading takes, roughly; comparing takes the rest. */
const READING = 0.5;

function requireEnough(folder: string, count: number): void {
  const fewest = fewestFor(LEVEL);
  if (count >= fewest) return;
  throw new RangeError(`${folder} has ${count} devices, and fewer than ${fewest} on each side prove nothing`);
}

function deviceOf(capture: Capture): Device {
  return {
    numbers: Object.values(NUMBERS).map((of) => of(capture)),
    strips: stripsOf(capture.versions),
  };
}

function judge(
  happened: readonly Device[],
  nothing: readonly Device[],
  progress: (share: number) => void,
): AuditResult {
  const parts = [
    () => testNumbers(happened, nothing),
    ...PLACES.map((what) => () => [testPlaces(what, happened, nothing)]),
    () => [testClassifier(happened, nothing)],
  ];
  const tests = parts
    .flatMap((part, i) => {
      const found = part();
      progress((i + 1) / parts.length);
      return found;
    })
    .toSorted((a, b) => a.probability - b.probability);
  return {
    verdict: tests.some(({ tells }) => tells) ? "distinguishable" : "nothing found",
    devices: { with: happened.length, without: nothing.length },
    tests,
    falseAlarms: FALSE_ALARMS,
    // Defined, because `requireEnough` has passed.
    detectable: detectableAdvantage(happened.length, nothing.length, LEVEL, POWER) ?? 1,
    power: POWER,
  };
}

/** Compares two samples. If the best of `places` was chosen, chance had that many tries. */
function test(
  distinguisher: string,
  a: readonly number[],
  b: readonly number[],
  detectable: number | undefined,
  places = 1,
): AuditTest {
  const probability = Math.min(1, places * chanceOfAdvantage(a, b));
  return {
    distinguisher,
    advantage: largestAdvantage(a, b),
    probability,
    tells: probability <= LEVEL,
    ...(detectable !== undefined && { detectable }),
  };
}

function testNumbers(happened: readonly Device[], nothing: readonly Device[]): AuditTest[] {
  const detectable = detectableAdvantage(happened.length, nothing.length, LEVEL, POWER);
  return Object.keys(NUMBERS).map((name, k) => {
    const column = (devices: readonly Device[]): number[] => devices.map(({ numbers }) => numbers[k] as number);
    return test(name, column(happened), column(nothing), detectable);
  });
}

function testPlaces(what: (typeof PLACES)[number], happened: readonly Device[], nothing: readonly Device[]): AuditTest {
  const strips = (devices: readonly Device[]) => devices.map((device) => device.strips);
  const { a, b, places, where } = findTellingPlace(what, strips(happened), strips(nothing));
  const tries = Math.max(1, places);
  const found = test(what, a, b, detectableAdvantage(a.length, b.length, LEVEL / tries, POWER), tries);
  return { ...found, ...(where !== undefined && { where }) };
}

/** Trains the classifier on every second device and tests it on the others. */
function testClassifier(happened: readonly Device[], nothing: readonly Device[]): AuditTest {
  const half = (devices: readonly Device[], which: number): Device[] => devices.filter((_, i) => i % 2 === which);
  const teachers = [half(happened, 0), half(nothing, 0)] as const;
  const features = Float32Array.from(teachers.flat().flatMap(({ numbers }) => numbers));
  const labels = Uint8Array.from([...teachers[0].map(() => 1), ...teachers[1].map(() => 0)]);
  const classify = trainClassifier({ features, labels }, Object.keys(NUMBERS).length);
  const [a, b] = [happened, nothing].map((devices) =>
    half(devices, 1).map(({ numbers }) => classify(Float32Array.from(numbers), 0)),
  ) as [number[], number[]];
  return test(CLASSIFIER, a, b, detectableAdvantage(a.length, b.length, LEVEL, POWER));
}
