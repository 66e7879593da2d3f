import { seededRandomnessForTests } from "@lethe/core/randomness";
import { describe, expect, it } from "vitest";
import { clientsFor, type PanPrivateCounter } from "./counter.ts";
import { encryptionFrom } from "./encryption.ts";
import { createLetheCounter } from "./lethe-counter.ts";
import { createRunningCount } from "./running-count.ts";
import { smallSpaceEncryptionFrom } from "./small-space-encryption.ts";
import { errorsWith, transmit } from "./transmission.ts";

const MESSAGE = "H";
const BITS = 8 * MESSAGE.length;
/** Of a message that should come out, seeded or not. */
const FALSE_ALARM = 1e-6;
const surroundings = (seed: string) => ({ random: seededRandomnessForTests(seed), progress: () => {} });
const lethe = createLetheCounter({ scheme: "lattice", ticks: 3, localEpsilon: 6 });

/** Accurate, and no pan-privacy at all. */
const inTheClear: PanPrivateCounter = {
  name: "a bit in the clear",
  ticks: 3,
  initialize: () => ({ parameters: new Uint8Array(), state: Uint8Array.of(0), server: new Uint8Array() }),
  update: (_parameters, [before = 0], bit) => Uint8Array.of(before | bit),
  output: (_parameters, state) => state,
  estimate: (_servers, outputs) => outputs.reduce((sum, [bit = 0]) => sum + bit, 0),
  mistakeBound: () => 0,
};

describe("public-key encryption from a counter (Thm. 6.1)", () => {
  it("gives a message back to the owner of the key, over Lethe's counter, and to nobody else", () => {
    const clients = clientsFor(lethe, BITS, FALSE_ALARM);
    const sent = transmit(lethe, encryptionFrom, clients, MESSAGE, surroundings("pke lethe"));
    expect(sent).toMatchObject({ received: MESSAGE, messageRecovered: true, bitErrors: 0, bits: BITS });
    expect(sent.bound).toBeLessThanOrEqual(FALSE_ALARM);
    // Reports that a made-up key opens count as "no event": the same chance of a false alarm.
    expect(sent.withoutKey.advantage).toBe(0);
  });

  it("takes any counter: one that keeps its bit in the clear makes an encryption that everybody reads", () => {
    const sent = transmit(inTheClear, encryptionFrom, 1, MESSAGE, surroundings("pke clear"));
    expect(sent.messageRecovered).toBe(true);
    expect(sent.withoutKey).toEqual({ bitErrors: 0, bits: BITS, advantage: 1 });
  });

  it("loses the message if the counter misses events", () => {
    const deaf: PanPrivateCounter = { ...inTheClear, update: (_parameters, state) => state };
    const sent = transmit(deaf, encryptionFrom, 1, MESSAGE, surroundings("pke deaf"));
    expect(sent.messageRecovered).toBe(false);
    expect(sent.bitErrors).toBe(2);
  });

  it("errs as often as randomized response does", () => {
    const noisy = createLetheCounter({ scheme: "lattice", ticks: 2, localEpsilon: 2 });
    const { bitErrors, bits, bound } = errorsWith(noisy, encryptionFrom, 1, 120, surroundings("pke errors"));
    // None at all with probability 0.875^120 = 1e-7; this many with 5e-7 (Bernstein).
    const variance = bits * bound * (1 - bound);
    const far = Math.sqrt(2 * variance * Math.log(2e6)) + (2 / 3) * Math.log(2e6);
    expect(bitErrors).toBeGreaterThan(0);
    expect(bitErrors).toBeLessThan(bits * bound + far);
  });

  it("rerandomizes as often as there are ticks, to the same bit in other bytes", () => {
    const random = seededRandomnessForTests("pke rerandomize");
    const encryption = encryptionFrom(lethe, clientsFor(lethe, 1, FALSE_ALARM));
    const keys = encryption.generateKeys(random);
    const first = encryption.encrypt(keys.publicKey, 1, random);
    const second = encryption.rerandomize(keys.publicKey, first, random);
    const third = encryption.rerandomize(keys.publicKey, second, random);
    expect(second.states[0]).not.toEqual(first.states[0]);
    expect(third.tick).toBe(3);
    expect(encryption.decrypt(keys, third, random)).toBe(1);
    expect(() => encryption.rerandomize(keys.publicKey, third, random)).toThrow(RangeError);
  });
});

describe("public-key encryption from a small-space counter (Thm. 6.2)", () => {
  it("gives a message back to everybody, over a counter that has no secret", () => {
    const counter = createRunningCount(16, 0.9);
    const clients = clientsFor(counter, BITS, FALSE_ALARM);
    const sent = transmit(counter, smallSpaceEncryptionFrom, clients, MESSAGE, surroundings("pke small space"));
    expect(sent).toMatchObject({ messageRecovered: true, bitErrors: 0 });
    expect(sent.withoutKey.bitErrors).toBe(0);
    expect(sent.bytes.privateKey).toBe(0);
  });

  it("cannot be read with a hundredth of the clients", () => {
    const counter = createRunningCount(16, 0.9);
    const clients = clientsFor(counter, BITS, FALSE_ALARM) / 100;
    const { bitErrors, bits } = errorsWith(
      counter,
      smallSpaceEncryptionFrom,
      Math.round(clients),
      200 * clients,
      surroundings("pke too few"),
    );
    // Near 28%; below 10% of 200 bits, by Chernoff, with probability 1e-8.
    expect(bitErrors / bits).toBeGreaterThan(0.1);
  });
});
