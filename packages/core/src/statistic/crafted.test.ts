import { describe, expect, it } from "vitest";
import { transparent } from "../../test/transparent.ts";
import {
  createLattice,
  type DeviceKeyContext,
  decodeCompact,
  deriveDeviceKeys,
  encodeCompact,
  type Slots,
  secret,
} from "../encryption/index.ts";
import { packedBytes } from "../encryption/lattice/bit-packing.ts";
import { clampOf } from "../privacy/index.ts";
import { randomnessFrom } from "../randomness/index.ts";
import { histogramServer } from "./histogram/automaton.ts";
import { planRotationHistogram, rotationHistogramServer } from "./histogram/rotation.ts";
import type { LatticePlan } from "./lattice/lattice-machine.ts";
import { planRotationMean, rotationMeanServer } from "./mean/rotation.ts";
import { occurrenceServer } from "./occurrence/automaton.ts";
import { ledgerServer, planLedger } from "./occurrence/ledger.ts";

/** Reports that no honest device sends, made by someone who has a device's public key. */
const random = randomnessFrom(globalThis.crypto);
const master = secret(new Uint8Array(32).fill(4));
const context: DeviceKeyContext = { task: "crafted", window: 0, device: new Uint8Array(16), role: "tally", index: 0 };

/** An encryption of these slots with the right canary, or with `canaryShift` added to its first slot. */
function craft({ choice, canary }: LatticePlan, slots: Record<number, number>, canaryShift = 0): Uint8Array {
  const scheme = createLattice(choice.parameters, choice.plaintextBits);
  const { publicKey } = deriveDeviceKeys(scheme, master, context);
  const message: Slots = new Int32Array(choice.parameters.dimension);
  for (const [i, slot] of canary.slots.entries()) message[slot] = canary.values[i] as number;
  const [first] = canary.slots as [number];
  message[first] = ((message[first] as number) + canaryShift) % 2 ** choice.plaintextBits;
  for (const [slot, value] of Object.entries(slots)) message[Number(slot)] = value;
  return encodeCompact(choice.parameters, choice.format, scheme.encrypt(publicKey, message, random));
}

describe("K-ary histograms", () => {
  const spec = { ticks: 3, hides: 0, eventsPerTick: 1, edges: [0, 1, 2], localEpsilon: 1, mechanism: "kary" } as const;
  const plan = planRotationHistogram(spec);
  const server = rotationHistogramServer(plan);
  const open = (report: Uint8Array): boolean => server.open(master, context, report, random).valid;
  const [p0, p1, p2] = plan.positions as readonly [number, number, number];

  it("one hot bucket is valid; none, two or three are not", () => {
    for (const position of [p0, p1, p2]) expect(open(craft(plan, { [position]: 1 }))).toBe(true);
    for (const slots of [{}, { [p0]: 1, [p1]: 1 }, { [p0]: 1, [p1]: 1, [p2]: 1 }])
      expect(open(craft(plan, slots))).toBe(false);
  });

  it("a canary that is off in one slot is not valid", () => {
    expect(open(craft(plan, { [p0]: 1 }, 1))).toBe(false);
  });

  it("the paper's machines refuse more or fewer than one hot bucket, and what is no bit", () => {
    const paper = histogramServer(transparent, spec);
    const valid = (...values: number[]): boolean =>
      paper.open(master, context, new Uint8Array(Int32Array.from(values).buffer), random).valid;
    expect(valid(0, 1, 0)).toBe(true);
    for (const values of [
      [0, 0, 0],
      [1, 1, 0],
      [1, 1, 1],
      [2, -1, 0],
      [0, 1],
    ])
      expect(valid(...values)).toBe(false);
    const occurrence = occurrenceServer(transparent, { ticks: 1, hides: 0, localEpsilons: [1] });
    const told = (value: number) =>
      occurrence.open(master, context, new Uint8Array(Int32Array.of(value).buffer), random);
    expect([told(0).valid, told(1).valid, told(2).valid, told(-1).valid]).toEqual([true, true, false, false]);
  });
});

describe("means", () => {
  it("every residue is read as the integer it stands for, clamped to 4σ beyond what it could be without noise", () => {
    const plan = planRotationMean({ ticks: 3, hides: 0, eventsPerTick: 1, limit: 2, sigma: 1 });
    const server = rotationMeanServer(plan);
    const reach = clampOf(plan.noise);
    const t = 2 ** plan.choice.plaintextBits;
    const read = (residue: number) => server.open(master, context, craft(plan, { 0: residue }), random);
    for (let residue = 0; residue < t; residue++) {
      const { valid, answers } = read(residue);
      const [value] = answers as [number];
      expect(valid).toBe(true);
      expect(value).toBeGreaterThanOrEqual(-reach);
      expect(value).toBeLessThanOrEqual(2 + reach);
      if (residue <= 2 + reach) expect(value).toBe(residue);
      if (residue >= t - reach) expect(value).toBe(residue - t);
    }
    // Just outside on either side: clamped, not rejected, not wrapped.
    expect(read(2 + reach + 1).answers).toEqual([2 + reach]);
    expect(read(t - reach - 1).answers).toEqual([-reach]);
  });
});

describe("bits that fill up a byte of a report", () => {
  const mean = { ticks: 3, hides: 0, eventsPerTick: 1, limit: 1000, sigma: 100 };
  const histogram = {
    ticks: 3,
    hides: 0,
    eventsPerTick: 1,
    edges: [0, 1, 2],
    localEpsilon: 1,
    mechanism: "unary",
  } as const;
  const ledger = planLedger({ ticks: 2, hides: 0, localEpsilons: [1, 1] });
  const [means, histograms] = [planRotationMean(mean), planRotationHistogram(histogram)];

  it.each([
    ["a ledger", ledger, ledgerServer(ledger)],
    ["a histogram", histograms, rotationHistogramServer(histograms)],
    ["a mean of two limbs", means, rotationMeanServer(means)],
  ])("are refused once set: %s", (_, { choice, ...plan }, server) => {
    const report = craft({ choice, ...plan }, {});
    expect(server.open(master, context, report, random).valid).toBe(true);
    const c1 = packedBytes(choice.parameters.dimension, choice.format.c0Bits);
    let refused = 0;
    for (let bit = 8 * c1; bit < 8 * report.length; bit++) {
      const changed = report.with(bit >> 3, (report[bit >> 3] as number) | (1 << (bit & 7)));
      try {
        decodeCompact(choice.parameters, choice.format, changed);
      } catch {
        refused++;
        expect(server.open(master, context, changed, random).valid).toBe(false);
        expect(server.open(master, context, Buffer.from(changed), random).valid).toBe(false);
      }
    }
    expect(refused).toBe((report.length - c1) * 8 - choice.format.reads.length * choice.format.c1Bits);
    expect(refused).toBeGreaterThan(0);
  });
});

describe("the ledger", () => {
  it("any value in a slot is an answer; a wrong canary is not", () => {
    const plan = planLedger({ ticks: 2, hides: 0, localEpsilons: [1] });
    const server = ledgerServer(plan);
    const slot = plan.canary.slots.length;
    const { size } = plan.responses[0] as { size: number };
    const answer = (value: number) => server.open(master, context, craft(plan, { [slot]: value }), random);
    expect([answer(0), answer(size - 1)].map(({ answers }) => answers)).toEqual([[0], [0]]);
    expect([answer(size), answer(127)].map(({ answers }) => answers)).toEqual([[1], [1]]);
    expect(server.open(master, context, craft(plan, {}, 1), random).valid).toBe(false);
  });
});
