import { describe, expect, it } from "vitest";
import {
  below,
  type CoinScript,
  type Distribution,
  distributionOf,
  isAtMostExp,
  isWhole,
  largestRatio,
  logOf,
  type Masks,
  outcome,
  type Seen,
  SMALLEST_OTHER,
} from "../../test/coins.ts";
import { fastRandomness } from "../../test/fast-randomness.ts";
import { transparent } from "../../test/transparent.ts";
import { bitsApart, deviceNumber, issueKeys, openBits, verify, WINDOW } from "../../test/two-server.ts";
import { split } from "../bytes.ts";
import { createElGamalCounter } from "../encryption/elgamal/elgamal.ts";
import {
  createLattice,
  type DeviceKeyContext,
  decodeCompact,
  deriveDeviceSecretKey,
  secret,
} from "../encryption/index.ts";
import { modulusBits } from "../encryption/lattice/parameters.ts";
import { createRandomizedResponse } from "../privacy/randomized-response.ts";
import type { Randomness } from "../randomness/index.ts";
import { createSharedBits, sharingContext } from "../sharing/shared-bit.ts";
import { counter } from "./automaton/counter.ts";
import { type EncryptedAutomaton, encryptedAutomata } from "./automaton/machine.ts";
import { answeredBits, type BitResponse } from "./automaton/sealing.ts";
import { createStatistic } from "./create.ts";
import { createTwoServerStatistic } from "./create-two-server.ts";
import { drawHistogramResponses } from "./histogram/answer.ts";
import { histogramDevice } from "./histogram/automaton.ts";
import { bucketLines } from "./histogram/bucket-lines.ts";
import {
  bucketOf,
  type HistogramMechanism,
  type HistogramMechanismName,
  histogramMechanism,
} from "./histogram/histogram.ts";
import { planRotationHistogram, type RotationHistogramPlan, rotationHistogramDevice } from "./histogram/rotation.ts";
import { type LatticePlan, latticeServer } from "./lattice/lattice-machine.ts";
import { type LedgerPlan, ledgerDevice, planLedger } from "./occurrence/ledger.ts";
import type { StatisticSpec, TwoServerSpec } from "./spec.ts";
import type { DeviceSide } from "./statistic.ts";

/**
 * The most that a report shows to the holder of all keys: the one server, or both servers together. For every count the
 * test walks through all coins of the device and computes the exact probability of everything that opens. The largest
 * ratio over all pairs of counts is at most e^ε₀, without any tolerance.
 *
 * Everything means every slot of every ciphertext, not just the answers. The rest of a report has a distribution that
 * does not depend on the count. ElGamal's randomness is fresh in every ciphertext. The two halves of a shared bit are a
 * function of the bit and of coins that were drawn for this sharing alone, since no sharing is in two places
 * (`bucket-lines.test.ts`). A lattice's noise is the subject of `key-holder-view.stat.test.ts`.
 */
const master = secret(new Uint8Array(32).fill(7));
const context: DeviceKeyContext = { task: "exposure", window: 0, device: new Uint8Array(16), role: "tally", index: 0 };
const stream = fastRandomness("before sealing");
/** For what comes before sealing, where a mechanism draws nothing unless its script says so. */
const noCoin: Randomness = (into) => {
  expect(into.length).toBeGreaterThanOrEqual(SMALLEST_OTHER);
  stream(into);
};

type Mechanisms = readonly HistogramMechanismName[];
const ALL: Mechanisms = ["kary", "unary", "per-bucket"];

interface Subject {
  /** The draws of a device with `count` events. */
  readonly script: (count: number) => () => CoinScript;
  /** Opens the report of a device with `count` events. */
  readonly run: (count: number) => (random: Randomness, masks: Masks) => Seen;
  /** Lattice runs are cheap enough to do each twice, which the check of masks needs. */
  readonly repeats: number;
}

const distributions = ({ script, run, repeats }: Subject, counts: readonly number[]): Distribution[] =>
  counts.map((count) => distributionOf(script(count), run(count), repeats));

/** Asserts that all counts together show no more than ε₀, and what is said of the mechanism, to nine digits. */
function expectExposure(subject: Subject, counts: readonly number[], epsilon: number, stated: number): void {
  const found = distributions(subject, counts);
  for (const each of found) expect(isWhole(each)).toBe(true);
  const ratio = largestRatio(found);
  if (!ratio) throw new Error("some view is possible for one count and not for another");
  expect(isAtMostExp(ratio, epsilon)).toBe(true);
  expect(logOf(ratio)).toBeCloseTo(stated, 9);
}

const countsFor = (edges: readonly number[]): number[] =>
  Array.from({ length: (edges.at(-1) as number) + 2 }, (_, count) => count);

/** A histogram whose window has room for all of these counts. */
function histogramOf(edges: readonly number[], mechanism: HistogramMechanismName, localEpsilon = 1) {
  const eventsPerTick = (edges.at(-1) as number) + 1;
  return { statistic: "histogram", ticks: 1, hides: 0, eventsPerTick, edges, localEpsilon, mechanism } as const;
}

/** The draws of `drawHistogramResponses`. */
function* histogramCoins(mechanism: HistogramMechanism): CoinScript {
  if (mechanism.name === "kary") {
    yield outcome(mechanism.keep);
    yield below(mechanism.buckets);
    return;
  }
  const { buckets } = mechanism;
  const [first, second] = mechanism.name === "unary" ? [mechanism.noise, 0.5] : [mechanism.flip, mechanism.flip];
  for (let b = 0; b < buckets; b++) yield outcome(first, second);
}

/** The state is stored once for every count; each run seals it again. */
function sealedAgain(device: DeviceSide, publicKey: Uint8Array, open: (report: Uint8Array) => string): Subject["run"] {
  return (count) => {
    const recorder = device.start(publicKey, noCoin);
    for (let i = 0; i < count; i++) recorder.record();
    const stored = recorder.write() as Uint8Array;
    return (random) => ({ view: open(device.resume(publicKey, stored, false, random).seal(stored)) });
  };
}

// ElGamal, one server.
const anyMessage = createElGamalCounter({ minimum: -40, maximum: 40 });

function openElGamal(report: Uint8Array): string {
  const key = deriveDeviceSecretKey(anyMessage, master, context);
  return split(report, report.length / 64)
    .map((bytes) => anyMessage.open(key, bytes))
    .join();
}

function onElGamal(spec: StatisticSpec, coins: () => CoinScript): Subject & { stated: number } {
  const { device, server } = createStatistic("elgamal", spec);
  const run = sealedAgain(device, server.issueKey(master, context), openElGamal);
  return { script: () => coins, run, repeats: 1, stated: server.localEpsilon() };
}

// Two servers that put everything together.
const DEVICE = deviceNumber(1);

function openTogether(report: Uint8Array): string {
  const opened = openBits(DEVICE, report);
  const bits = opened.leader.length;
  const { valid, answers } = verify([bitsApart(bits)], opened);
  expect(valid).toBe(true);
  expect(new Set(opened.leader.map(({ share }) => share.join())).size).toBe(bits);
  return answers().join();
}

function onTwoServers(device: DeviceSide, coins: () => CoinScript): Subject {
  return { script: () => coins, run: sealedAgain(device, issueKeys(DEVICE), openTogether), repeats: 1 };
}

function twoServers(spec: TwoServerSpec, coins: () => CoinScript): Subject & { stated: number } {
  const { device, localEpsilon } = createTwoServerStatistic(spec);
  return { ...onTwoServers(device(sharingContext(WINDOW)), coins), stated: localEpsilon() };
}

// Lattices, one server.
/** The same plan, but a report holds every slot to the last bit: more than the server ever gets. */
function openedInFull<Plan extends LatticePlan>(plan: Plan): Plan {
  const { parameters } = plan.choice;
  const bits = modulusBits(parameters);
  const reads = Array.from({ length: parameters.dimension }, (_, slot) => slot);
  return { ...plan, choice: { ...plan.choice, format: { c0Bits: bits, c1Bits: bits, reads } } };
}

function onLattice(plan: LatticePlan, device: DeviceSide, see: (slots: Int32Array, masks: Uint8Array) => Seen) {
  const { parameters, plaintextBits, format } = plan.choice;
  const scheme = createLattice(parameters, plaintextBits);
  const publicKey = latticeServer(plan, { read: () => [], onNoEvent: () => [] }).issueKey(master, context);
  const key = deriveDeviceSecretKey(scheme, master, context);
  return {
    repeats: 2,
    run: (count: number) => (random: Randomness, masks: Masks) => {
      const recorder = device.start(publicKey, random);
      for (let i = 0; i < count; i++) recorder.record();
      const report = recorder.seal(recorder.write() as Uint8Array);
      return see(scheme.decrypt(key, decodeCompact(parameters, format, report)), masks());
    },
  };
}

/** Buckets and canary are seen; every other slot has its own mask, in the order of slots. */
function seeHistogram({ positions, canary, choice }: RotationHistogramPlan) {
  const bare = new Set([...positions, ...canary.slots]);
  return (slots: Int32Array, masks: Uint8Array): Seen => {
    const all = [...slots];
    const masked = all.map((_, slot) => slot).filter((slot) => !bare.has(slot));
    expect(all).toHaveLength(choice.parameters.dimension);
    expect(masks.length).toBeGreaterThanOrEqual(masked.length);
    const beneath = masked.map((slot, i) => ((all[slot] as number) ^ (masks[i] as number)) & 1);
    return { view: all.filter((_, slot) => bare.has(slot)).join(), padded: beneath.join() };
  };
}

function latticeHistogram(edges: readonly number[], name: HistogramMechanismName): Subject & { stated: number } {
  const plan = openedInFull(planRotationHistogram(histogramOf(edges, name)));
  const { mechanism } = plan;
  function* coins(): CoinScript {
    if (mechanism.name === "unary") yield below(2);
    if (mechanism.name === "kary") yield* histogramCoins(mechanism);
    const noise = mechanism.name === "kary" ? 0 : mechanism.name === "unary" ? mechanism.noise : mechanism.flip;
    for (const _ of edges) yield outcome(noise);
  }
  const subject = onLattice(plan, rotationHistogramDevice(plan), seeHistogram(plan));
  return { ...subject, script: () => coins, stated: mechanism.localEpsilon };
}

function ledger(localEpsilon: number, bits: number): Subject & { stated: number } {
  const plan: LedgerPlan = openedInFull(planLedger({ ticks: 1, hides: 0, localEpsilons: [localEpsilon] }));
  const [{ size, localEpsilon: stated }] = plan.responses as [LedgerPlan["responses"][0]];
  const t = 2 ** bits;
  expect(plan.choice.plaintextBits).toBe(bits);
  function* coins(count: number): CoinScript {
    for (let i = 0; i < count; i++) yield below(t);
    const rest = yield below(t, [t - size]);
    yield below(rest === 0 ? size : t - size);
  }
  // No slot is masked: all of them are seen.
  const subject = onLattice(plan, ledgerDevice(plan), (slots) => ({ view: slots.join() }));
  return { ...subject, script: (count) => () => coins(count), stated };
}

// Without encryption: the same algorithms where there are too many coins for it.
const openTransparent = (report: Uint8Array): string => new Int32Array(report.slice().buffer).join();

function inTheClear(device: DeviceSide, mechanism: HistogramMechanism): Subject {
  const run = sealedAgain(device, Uint8Array.of(0), openTransparent);
  return { script: () => () => histogramCoins(mechanism), run, repeats: 2 };
}

/** Small enough to walk through with encryption: buckets of one count, and of several. */
const WITH_ENCRYPTION: readonly (readonly [edges: readonly number[], mechanisms: Mechanisms])[] = [
  [[0, 1], ALL],
  [[0, 2], ALL],
];
const ON_LATTICE: readonly (readonly number[])[] = [
  [0, 1, 2],
  [0, 1, 3],
  [0, 1, 2, 5],
];
const IN_THE_CLEAR: readonly (readonly number[])[] = [...ON_LATTICE, [0, 3, 6], [0, 1, 2, 5, 10]];
const each = (cases: typeof WITH_ENCRYPTION) =>
  cases.flatMap(([edges, mechanisms]) => mechanisms.map((mechanism) => [mechanism, edges] as const));

describe("a histogram's report shows at most ε₀", () => {
  it.each(each(ON_LATTICE.map((edges) => [edges, ALL])))(
    "to one server, lattice, all slots: %s, edges %j",
    (name, edges) => {
      const { stated, ...subject } = latticeHistogram(edges, name);
      expectExposure(subject, countsFor(edges), 1, stated);
    },
  );

  it.each(each(WITH_ENCRYPTION))("to one server, ElGamal: %s, edges %j", (name, edges) => {
    const spec = histogramOf(edges, name);
    const { stated, ...subject } = onElGamal(spec, () => histogramCoins(histogramMechanism(spec)));
    expectExposure(subject, countsFor(edges), 1, stated);
  });

  it.each(each([...WITH_ENCRYPTION, [[0, 1, 2, 5], ["kary"]]]))(
    "to two servers together: %s, edges %j",
    (name, edges) => {
      const spec = histogramOf(edges, name);
      const coins = () => histogramCoins(histogramMechanism(spec));
      const { stated, ...subject } = twoServers({ ...spec, noise: "device" }, coins);
      expectExposure(subject, countsFor(edges), 1, stated);
    },
  );

  it.each(each(IN_THE_CLEAR.map((edges) => [edges, ALL])))(
    "both algorithms in the clear: %s, edges %j",
    (name, edges) => {
      for (const epsilon of [0.25, 4]) {
        const spec = histogramOf(edges, name, epsilon);
        const mechanism = histogramMechanism(spec);
        const { fronts, ...slots } = bucketLines("clicks", edges);
        const sealing = answeredBits<number>(fronts, (random) => drawHistogramResponses(mechanism, random));
        const lines = encryptedAutomata(transparent, spec, [{ slots, sealing }]);
        for (const device of [histogramDevice(transparent, spec), lines]) {
          expectExposure(inTheClear(device, mechanism), countsFor(edges), epsilon, mechanism.localEpsilon);
        }
      }
    },
  );
});

describe("an occurrence's report shows at most ε₀, however often it happened", () => {
  const COUNTS = [0, 1, 2];
  const spec = { statistic: "occurrence", ticks: 1, hides: 0, localEpsilons: [1] } as const;
  const { flip } = createRandomizedResponse(1);
  function* coins(): CoinScript {
    yield outcome(flip, flip);
  }

  it.each([
    [1.1, 2],
    [0.52, 3],
    [1.95, 3],
  ])("to one server, lattice, all slots, their whole values: ε₀ = %d, %d bits a slot", (epsilon, bits) => {
    const { stated, ...subject } = ledger(epsilon, bits);
    expectExposure(subject, bits === 2 ? COUNTS : [0, 1], epsilon, stated);
  });

  it("to one server, ElGamal", () => {
    const { stated, ...subject } = onElGamal(spec, coins);
    expectExposure(subject, COUNTS, 1, stated);
  });

  it("to two servers together", () => {
    const { stated, ...subject } = twoServers({ ...spec, noise: "device" }, coins);
    expectExposure(subject, COUNTS, 1, stated);
  });
});

describe("the enumeration finds what shows more", () => {
  /**
   * Alg. 3 with a bit for every count, as two servers once had it: a kept answer stays at its count, a decoy is on the
   * first count of its bucket. Whichever slot else is 1 shows that the answer is kept, and the count.
   */
  function bitForEveryCount<C>(edges: readonly number[], mechanism: HistogramMechanism): EncryptedAutomaton<C> {
    const top = edges.at(-1) as number;
    const places = Array.from({ length: 2 * top }, (_, place) => place);
    const respondTo = (random: Randomness): BitResponse[] => {
      const responses = drawHistogramResponses(mechanism, random);
      return Array.from({ length: top + 1 }, (_, count) => {
        const response = responses[bucketOf(edges, count)] as BitResponse;
        return response === "keep" || edges.includes(count) ? response : 0;
      });
    };
    return {
      slots: {
        ...counter("clicks", top),
        initial: places.map((place) => (place === 0 ? 1 : 0)),
        // Exact counts below the top, then "at least" 1 to top.
        onEvent: () => places.map((place) => (place === 0 ? 0 : place === top ? 1 : [place - 1])),
        onEnd: () => places.map((place) => [place]),
      },
      sealing: answeredBits(
        [...places.slice(0, top), 2 * top - 1].map((place) => [place]),
        respondTo,
      ),
    };
  }

  const planted = (edges: readonly number[]): Distribution[] => {
    const mechanism = histogramMechanism(histogramOf(edges, "kary"));
    const device = encryptedAutomata(
      createSharedBits(sharingContext(WINDOW)),
      { ticks: 1, hides: 0 },
      [bitForEveryCount(edges, mechanism)],
      1,
    );
    const subject = onTwoServers(device, () => histogramCoins(mechanism));
    return distributions(subject, countsFor(edges));
  };

  it("a bit for every count shows any ε if a bucket has several, and ε₀ if none has", () => {
    expect(largestRatio(planted([0, 2]))).toBeUndefined();
    const ratio = largestRatio(planted([0, 1]));
    expect(ratio && isAtMostExp(ratio, 1)).toBe(true);
  });

  it("randomized response at ε₀ on every bucket, as the paper has it, shows 2ε₀", () => {
    const spec = histogramOf([0, 1, 3], "per-bucket", 2);
    const mechanism = histogramMechanism(spec);
    const ratio = largestRatio(
      distributions(inTheClear(histogramDevice(transparent, spec), mechanism), countsFor(spec.edges)),
    );
    expect(ratio && logOf(ratio)).toBeCloseTo(2, 9);
    expect(ratio && isAtMostExp(ratio, 1)).toBe(false);
  });

  it("with noise at the servers nothing is promised against both together: they open the bucket", () => {
    const { mechanism: _, localEpsilon: __, ...rest } = histogramOf([0, 2], "kary");
    const spec = { ...rest, noise: "servers", sigma: 1 } as const;
    const { stated: ___, ...subject } = twoServers(spec, noCoins);
    const found = distributions(subject, [0, 1, 2]);
    expect(found.map((each) => [...each.keys()])).toEqual([["1,0"], ["1,0"], ["0,1"]]);
    expect(largestRatio(found)).toBeUndefined();
  });
});

function* noCoins(): CoinScript {}

it("the script must name every draw of the device, and no other", () => {
  const spec = histogramOf([0, 1], "unary");
  const mechanism = histogramMechanism(spec);
  const device = histogramDevice(transparent, spec);
  const walk = (coins: () => CoinScript) =>
    distributions({ ...inTheClear(device, mechanism), script: () => coins }, [0]);
  function* oneMore(): CoinScript {
    yield* histogramCoins(mechanism);
    yield below(2);
  }
  expect(() => walk(noCoins)).toThrow("not in the script");
  expect(() => walk(oneMore)).toThrow("drew less");
  expect(walk(() => histogramCoins(mechanism))).toHaveLength(1);
});
