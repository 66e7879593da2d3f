import { describe, expect, it, vi } from "vitest";
import { chiSquareAlarm } from "../../test/chi-square.ts";
import { createLattice, type DeviceKeyContext, decodeCompact, deriveDeviceKeys, secret } from "../encryption/index.ts";
import { phaseOpener } from "../encryption/lattice/ciphertext.ts";
import { coefficient } from "../encryption/lattice/limbs.ts";
import { ringOf } from "../encryption/lattice/ring.ts";
import { type Randomness, randomnessFrom } from "../randomness/index.ts";
import { planRotationHistogram, rotationHistogramDevice, rotationHistogramServer } from "./histogram/rotation.ts";
import { type LatticePlan, latticeDevice } from "./lattice/lattice-machine.ts";
import { planRotationMean, rotationMeanDevice, rotationMeanServer } from "./mean/rotation.ts";
import { ledgerDevice, ledgerServer, planLedger } from "./occurrence/ledger.ts";
import type { DeviceSide, ServerSide } from "./statistic.ts";

/**
 * The noise that the key holder finds beside the answers must not depend on events. Its variance shows the number of
 * fresh encryptions, so that number must be the same on every path. That its shape does not show rotations is tested
 * with the scheme (`rotated-noise.stat.test.ts`). Unseeded: false alarms are below 10⁻⁶ a run.
 */
const platform = randomnessFrom(globalThis.crypto);
/** The numbers of centred binomial samples in sums that were drawn directly. */
const summed: number[] = vi.hoisted(() => []);
vi.mock("../randomness/summed.ts", async (load) => {
  const real = await load<typeof import("../randomness/summed.ts")>();
  const addSummed: typeof real.addSummed = (kind, random, count, sums) => {
    if (kind === "binomial") summed.push(count);
    real.addSummed(kind, random, count, sums);
  };
  return { ...real, addSummed };
});

const master = secret(new Uint8Array(32).fill(8));
const context: DeviceKeyContext = { task: "view", window: 0, device: new Uint8Array(16), role: "tally", index: 0 };
const TICKS = 2;
const WRITES = 2 * TICKS;
const HEADER = 10;

/** The same plan with every bit and slot sent, so that the noise is seen as it is, without the rounding on top. */
function unrounded<Plan extends LatticePlan>(plan: Plan): Plan {
  const { dimension, limbs } = plan.choice.parameters;
  const format = { c0Bits: 25 * limbs, c1Bits: 25 * limbs, reads: Array.from({ length: dimension }, (_, i) => i) };
  return { ...plan, choice: { ...plan.choice, format } };
}

interface Subject {
  readonly name: string;
  readonly plan: LatticePlan;
  readonly device: DeviceSide;
  readonly server: ServerSide;
}

const ledger = unrounded(planLedger({ ticks: TICKS, hides: TICKS, localEpsilons: [1, 1] }));
const histogramSpec = { ticks: TICKS, hides: TICKS, eventsPerTick: 1, edges: [0, 1, 2], localEpsilon: 1 };
const [kary, unary] = (["kary", "unary"] as const).map((mechanism) =>
  unrounded(planRotationHistogram({ ...histogramSpec, mechanism })),
) as [ReturnType<typeof planRotationHistogram>, ReturnType<typeof planRotationHistogram>];
const mean = unrounded(planRotationMean({ ticks: TICKS, hides: TICKS, eventsPerTick: 1, limit: 2, sigma: 1 }));
const SUBJECTS: readonly Subject[] = [
  { name: "ledger", plan: ledger, device: ledgerDevice(ledger), server: ledgerServer(ledger) },
  { name: "histogram, kary", plan: kary, device: rotationHistogramDevice(kary), server: rotationHistogramServer(kary) },
  {
    name: "histogram, unary",
    plan: unary,
    device: rotationHistogramDevice(unary),
    server: rotationHistogramServer(unary),
  },
  { name: "mean", plan: mean, device: rotationMeanDevice(mean), server: rotationMeanServer(mean) },
];

/** c₁ + c₀·s modulo q/t: the noise, whatever the message is. */
function noiseOf({ plan }: Subject, report: Uint8Array): Float64Array {
  const { parameters, plaintextBits, format } = plan.choice;
  const scheme = createLattice(parameters, plaintextBits);
  const { secretKey } = deriveDeviceKeys(scheme, master, context);
  const phase = phaseOpener(ringOf(parameters))(secretKey, decodeCompact(parameters, format, report));
  const delta = 2 ** (25 * parameters.limbs - plaintextBits);
  return Float64Array.from({ length: parameters.dimension }, (_, i) => {
    const residue = coefficient(parameters, phase, i) % delta;
    return residue >= delta / 2 ? residue - delta : residue;
  });
}

/**
 * A device's steps: a write that ends its tick, one that does not, or an end of the program, which goes on from what
 * it stored last, in the tick of the last write or in a later one.
 */
type Step = "tick" | "hide" | "resume" | "resume later";

const TICKS_ONLY: readonly Step[] = Array.from({ length: TICKS }, () => "tick");

/** A report after these steps; `meddle` alters what is stored before it is sealed. */
function reportAfter(
  { device, server }: Subject,
  {
    events,
    steps = TICKS_ONLY,
    meddle = (stored) => stored,
    random = platform,
  }: {
    /** The number of first steps before each of which there is one. */
    events: number;
    steps?: readonly Step[];
    meddle?: (stored: Uint8Array) => Uint8Array;
    random?: Randomness;
  },
): Uint8Array {
  const key = server.issueKey(master, context);
  let recorder = device.start(key, random);
  let stored = new Uint8Array();
  for (const [i, step] of steps.entries()) {
    if (i < events) recorder.record();
    if (step === "tick" || step === "hide") {
      const written = recorder.write({ endsTick: step === "tick" });
      if (!written) throw new Error(`no write is left for step ${i} of ${steps}`);
      stored = new Uint8Array(written);
    } else recorder = device.resume(key, stored, step === "resume", random);
  }
  return recorder.seal(meddle(stored));
}

const isWrite = (step: Step): boolean => step === "tick" || step === "hide";

/** Of a window with as many hides as ticks. */
const MIXES: readonly (readonly Step[])[] = [
  ["hide"],
  ["hide", "resume"],
  ["hide", "resume later", "tick"],
  ["hide", "resume", "hide", "resume", "tick", "tick"],
  ["tick", "resume later", "hide", "resume", "resume", "tick"],
  ["tick", "hide", "resume", "hide", "resume later", "tick", "resume later"],
];

/** Mean square of the noise over many reports of one device key. */
function noisePower(subject: Subject, options: Parameters<typeof reportAfter>[1]): number {
  const REPORTS = 150;
  let sum = 0;
  for (let i = 0; i < REPORTS; i++) {
    const noise = noiseOf(subject, reportAfter(subject, options));
    sum += noise.reduce((square, x) => square + x * x, 0) / noise.length;
  }
  return sum / REPORTS;
}

describe("the noise's power is the same whatever happened", () => {
  // A report of nine encryptions: one more or one less changes the power by 11%. Over 150 reports the power of
  // unmultiplied
  // noise is known to 0.4%, of multiplied noise, whose coefficients go together, to 1%: the limit is five times that.
  const LIMIT = 0.05;

  for (const subject of SUBJECTS) {
    it(`${subject.name}: no events, events in every tick, writes missing or added`, () => {
      const reference = noisePower(subject, { events: 0 });
      const ticks = (count: number): Step[] => Array.from({ length: count }, () => "tick");
      const others = [
        { events: 1 },
        { events: 2 },
        { events: 1, steps: ticks(1) },
        { events: 2, steps: ticks(WRITES) },
      ];
      for (const options of others) {
        expect(Math.abs(noisePower(subject, options) / reference - 1)).toBeLessThan(LIMIT);
      }
    });

    it(`${subject.name}: programs that hide, end and go on, with events before each step or none`, () => {
      const reference = noisePower(subject, { events: 0 });
      const [short = [], long = []] = [MIXES.at(0), MIXES.at(-1)];
      for (const options of [
        { events: 1, steps: short },
        { events: 0, steps: long },
        { events: 9, steps: long },
      ]) {
        expect(Math.abs(noisePower(subject, options) / reference - 1)).toBeLessThan(LIMIT);
      }
    });
  }

  it("the same test catches a device that adds an encryption for every event, and one that skips one", () => {
    const [subject] = SUBJECTS as readonly [Subject];
    const scheme = createLattice(subject.plan.choice.parameters, subject.plan.choice.plaintextBits);
    const { publicKey } = deriveDeviceKeys(scheme, master, context);
    const oneMore = (stored: Uint8Array): Uint8Array => {
      const ciphertext = scheme.decode(stored.subarray(HEADER));
      scheme.addEncryptionsOfZero(publicKey, ciphertext, 1, platform);
      const copy = stored.slice();
      copy.set(scheme.encode(ciphertext), HEADER);
      return copy;
    };
    // Nothing has happened, so a state with one encryption less can be made from scratch.
    const oneLess = (stored: Uint8Array): Uint8Array => {
      const ciphertext = scheme.trivial();
      scheme.addEncryptionsOfZero(publicKey, ciphertext, 2 * TICKS - 1, platform);
      const copy = stored.slice();
      copy.set(scheme.encode(ciphertext), HEADER);
      return copy;
    };
    const reference = noisePower(subject, { events: 0 });
    expect(noisePower(subject, { events: 1, meddle: oneMore }) / reference - 1).toBeGreaterThan(LIMIT);
    expect(1 - noisePower(subject, { events: 0, meddle: oneLess }) / reference).toBeGreaterThan(LIMIT);
  });
});

describe("the number of fresh encryptions is the same on every path", () => {
  /**
   * Counts encryptions by their two draws of centred binomial samples: of single ones by the bytes that they take, of sums by
   * the numbers of samples that were summed.
   */
  function counting(dimension: number): { random: Randomness; encryptions: () => number } {
    const size = 4 * (dimension + Math.ceil(dimension / 3));
    let draws = 0;
    summed.splice(0);
    return {
      random: (into) => {
        if (into.length === size) draws++;
        platform(into);
      },
      encryptions: () => (draws + summed.reduce((sum, count) => sum + count, 0)) / 2,
    };
  }

  const decoysOf = ({ name }: Subject): number => (name === "histogram, kary" ? 2 * WRITES : 0);

  for (const subject of SUBJECTS) {
    it.each(MIXES.map((steps) => [steps.join(", "), steps] as const))(
      `${subject.name}: a report holds ${2 * WRITES + 1} after %s`,
      (_, steps) => {
        const sessions = 1 + steps.filter((step) => !isWrite(step)).length;
        for (const events of [0, 1, 2, steps.length]) {
          for (let repetition = 0; repetition < 4; repetition++) {
            const { random, encryptions } = counting(subject.plan.choice.parameters.dimension);
            reportAfter(subject, { events, steps, random });
            // What a session encrypts after its last write, or on opening if it makes none, is in memory only.
            expect(encryptions() - sessions - decoysOf(subject)).toBe(2 * WRITES + 1);
          }
        }
      },
    );

    it(`${subject.name}: 2w are stored after w writes, and a report holds ${2 * WRITES + 1}`, () => {
      const decoy = decoysOf(subject);
      for (let writes = 1; writes <= WRITES; writes++) {
        for (const events of [0, 1, 2]) {
          // The decoy is prepared every time, used or not: sixteen repetitions see both.
          for (let repetition = 0; repetition < 16; repetition++) {
            const { random, encryptions } = counting(subject.plan.choice.parameters.dimension);
            reportAfter(subject, { events, steps: Array.from({ length: writes }, () => "tick"), random });
            // One at the start, two a write, of which the last is in memory only; the rest are sealed in.
            const inStored = 2 * writes;
            const inSeal = 2 * (WRITES - writes) + 1;
            expect(encryptions()).toBe(inStored + 1 + inSeal + decoy);
          }
        }
      }
    });
  }
});

describe("the masks", () => {
  it("make every slot that is not an answer uniform, whatever the count", () => {
    for (const subject of SUBJECTS.slice(1)) {
      const { parameters, plaintextBits, format } = subject.plan.choice;
      const scheme = createLattice(parameters, plaintextBits);
      const { secretKey } = deriveDeviceKeys(scheme, master, context);
      const answers = "positions" in subject.plan ? (subject.plan.positions as number[]) : [0];
      const fixed = new Set([...answers, ...subject.plan.canary.slots]);
      // Every slot in reach of the product, by its top bit: 300 reports, a count of ones for each.
      const REPORTS = 300;
      const ones = new Int32Array(parameters.dimension);
      for (let i = 0; i < REPORTS; i++) {
        const report = reportAfter(subject, { events: 2 });
        const opened = scheme.decrypt(secretKey, decodeCompact(parameters, format, report));
        for (let slot = 0; slot < ones.length; slot++) {
          ones[slot] = (ones[slot] as number) + ((opened[slot] as number) >> (plaintextBits - 1));
        }
      }
      const free = Array.from(ones).filter((_, slot) => !fixed.has(slot));
      // A fair coin's count has standard deviation √300/2; a thousand of them leave 6.5 of those once in 10⁷ runs.
      for (const count of free) expect(Math.abs(count - REPORTS / 2)).toBeLessThan((6.5 * Math.sqrt(REPORTS)) / 2);
      const chi = free.reduce((sum, count) => sum + (count - REPORTS / 2) ** 2 / (REPORTS / 4), 0);
      expect(chi).toBeLessThan(chiSquareAlarm(free.length, 1e-8));
    }
  });
});

it("latticeDevice refuses a public key of the wrong size", () => {
  const device = latticeDevice(ledger, { fold: () => {}, seal: () => {} });
  expect(() => device.start(new Uint8Array(5), platform)).toThrow("a public key has 5 bytes");
});
