import { describe, expect, it } from "vitest";
import { paillier } from "../../test/paillier.ts";
import { type DeviceKeyContext, log2FailureBound, type NoiseHistory, secret } from "../encryption/index.ts";
import { randomnessFrom } from "../randomness/index.ts";
import { createStatistic, type Statistic } from "./create.ts";
import { histogramDevice, histogramServer } from "./histogram/automaton.ts";
import { bucketOf } from "./histogram/histogram.ts";
import { meanDevice } from "./mean/automaton.ts";

const random = randomnessFrom(globalThis.crypto);
const master = secret(new Uint8Array(32).fill(6));
const context: DeviceKeyContext = { task: "counts", window: 0, device: new Uint8Array(16), role: "tally", index: 0 };

/** The answers after `events` events, as many in each tick as are allowed. */
function answersAfter(
  { device, server }: Statistic,
  ticks: number,
  eventsPerTick: number,
  events: number,
): readonly number[] {
  const recorder = device.start(server.issueKey(master, context), random);
  let left = events;
  let stored: Uint8Array | undefined;
  for (let tick = 0; tick < ticks; tick++) {
    for (let i = 0; i < eventsPerTick && left > 0; i++, left--) recorder.record();
    stored = recorder.write();
  }
  return server.open(master, context, recorder.seal(stored as Uint8Array), random).answers;
}

describe("every count from 0 to M is put into its bucket", () => {
  // At ε = 20 the mechanism tells the truth but for a chance of 1e-8.
  for (const [ticks, eventsPerTick, edges] of [
    [12, 1, [0, 1, 2, 5, 10]],
    [5, 3, [0, 4, 15]],
    [3, 1, [0, 1, 2, 5]],
    [20, 2, [0, 1]],
  ] as [number, number, number[]][]) {
    for (const mechanism of ["kary", "per-bucket"] as const) {
      it(`lattice, ${ticks} ticks of up to ${eventsPerTick} events, edges ${edges}, ${mechanism}`, () => {
        const spec = {
          statistic: "histogram",
          ticks,
          hides: 0,
          eventsPerTick,
          edges,
          localEpsilon: 20,
          mechanism,
        } as const;
        const statistic = createStatistic("lattice", spec);
        let wrong = 0;
        for (let count = 0; count <= ticks * eventsPerTick; count++) {
          const answers = answersAfter(statistic, ticks, eventsPerTick, count);
          wrong += answers.filter((bit, b) => bit !== Number(b === bucketOf(edges, count))).length;
        }
        // Per-bucket spends half of ε on each bit and errs once in 22,000; one wrong bit in all is let pass.
        expect(wrong).toBeLessThanOrEqual(mechanism === "kary" ? 0 : 1);
      });
    }
  }

  it("elgamal, counts up to and beyond the last edge", () => {
    const edges = [0, 1, 3];
    const spec = {
      statistic: "histogram",
      ticks: 5,
      hides: 0,
      eventsPerTick: 1,
      edges,
      localEpsilon: 20,
      mechanism: "kary",
    } as const;
    const statistic = createStatistic("elgamal", spec);
    for (let count = 0; count <= 5; count++) {
      expect(answersAfter(statistic, 5, 1, count).indexOf(1)).toBe(bucketOf(edges, count));
    }
  });
});

describe("every count from 0 to M is truncated at the limit", () => {
  for (const scheme of ["lattice", "elgamal"] as const) {
    it(scheme, () => {
      // σ·limit = 0.08: the noise is 0 but for a chance of 1e-33.
      const statistic = createStatistic(scheme, {
        statistic: "mean",
        ticks: 6,
        hides: 0,
        eventsPerTick: 1,
        limit: 4,
        sigma: 0.02,
      });
      for (let count = 0; count <= 6; count++)
        expect(answersAfter(statistic, 6, 1, count)).toEqual([Math.min(count, 4)]);
    });
  }
});

describe("the ledger", () => {
  it("spreads more metrics than slots over several ciphertexts", () => {
    const metrics = 2500;
    const statistic = createStatistic("lattice", {
      statistic: "occurrence",
      ticks: 1,
      hides: 0,
      localEpsilons: new Array<number>(metrics).fill(8),
    });
    const recorder = statistic.device.start(statistic.server.issueKey(master, context), random);
    for (let metric = 0; metric < metrics; metric += 3) recorder.record(metric);
    const report = recorder.seal(recorder.write() as Uint8Array);
    const { valid, answers } = statistic.server.open(master, context, report, random);
    expect(valid).toBe(true);
    const wrong = answers.filter((bit, metric) => bit !== Number(metric % 3 === 0)).length;
    // e^−8 of the answers are wrong: 0.8 of 2,500 on average.
    expect(wrong).toBeLessThan(12);
  });

  it("uses all slots of the set that its ε needs, before it takes another ciphertext", () => {
    const { device, choice } = createStatistic("lattice", {
      statistic: "occurrence",
      ticks: 10,
      hides: 0,
      localEpsilons: new Array<number>(2000).fill(8),
    });
    expect(choice?.parameters).toEqual({ set: "L2", dimension: 2048, limbs: 2 });
    expect(device.bytes.state).toBe(10 + 25_600);
    for (const localEpsilon of [0.0005, 1, 8, 12]) {
      const { choice: chosen } = createStatistic("lattice", {
        statistic: "occurrence",
        ticks: 1,
        hides: 0,
        localEpsilons: [localEpsilon],
      });
      const { plaintextBits, parameters } = chosen as NonNullable<typeof chosen>;
      expect(2 * plaintextBits).toBeLessThanOrEqual(25 * parameters.limbs);
    }
  });

  it("costs no more bytes for 1,000 metrics than for 1, but for what is read", () => {
    const bytes = (metrics: number) =>
      createStatistic("lattice", {
        statistic: "occurrence",
        ticks: 288,
        hides: 0,
        localEpsilons: new Array<number>(metrics).fill(1),
      }).device.bytes;
    expect(bytes(1000).state).toBe(bytes(1).state);
    expect(bytes(1000).report).toBeLessThan(2 * bytes(1).report);
  });
});

describe("the paper's algorithms run on any additive scheme", () => {
  it("Paillier: the histogram of Algorithm 3", () => {
    // Paillier draws its own primes, so its keys cannot be derived; the machines need a public key only.
    const { publicKey, secretKey } = paillier.generateKeys(random);
    const spec = {
      ticks: 3,
      hides: 0,
      eventsPerTick: 1,
      edges: [0, 1, 2],
      localEpsilon: 20,
      mechanism: "kary",
    } as const;
    const device = histogramDevice(paillier, spec);
    const recorder = device.start(paillier.encodePublicKey(publicKey), random);
    recorder.record();
    recorder.write();
    recorder.record();
    const report = recorder.seal(recorder.write() as Uint8Array);
    const bits = [0, 1, 2].map((b) => {
      const size = paillier.ciphertextBytes;
      return paillier.decrypt(secretKey, paillier.decode(report.subarray(b * size, (b + 1) * size)));
    });
    expect(bits).toEqual([0, 0, 1]);
    expect(histogramServer(paillier, spec).mechanism).toBe("kary");
  });

  it("but not on one that shows the key holder how often it rerandomized", () => {
    const showing = { ...paillier, hidesRerandomizations: false };
    const spec = { ticks: 3, hides: 0, eventsPerTick: 1, limit: 2, sigma: 1 };
    expect(() => meanDevice(showing, spec)).toThrow("shows the key holder how often");
  });
});

describe("what does not fit is refused, naming what to change", () => {
  const base = {
    statistic: "histogram",
    ticks: 288,
    hides: 0,
    eventsPerTick: 1,
    edges: [0, 1, 2, 5],
    localEpsilon: 1,
  } as const;

  it("too many ticks or events for a ciphertext", () => {
    expect(() => createStatistic("lattice", { ...base, ticks: 5000, hides: 0 })).toThrow(/lower ticks, eventsPerTick/);
    expect(() => createStatistic("lattice", { ...base, eventsPerTick: 10 })).toThrow(/288 ticks with eventsPerTick 10/);
    expect(() =>
      createStatistic("lattice", { statistic: "mean", ticks: 5000, hides: 0, eventsPerTick: 1, limit: 3, sigma: 1 }),
    ).toThrow(/lower ticks or eventsPerTick/);
  });

  it("too much noise, too long a histogram, too many ciphertexts", () => {
    const wide = { statistic: "mean", ticks: 2000, hides: 0, eventsPerTick: 1, limit: 2000, sigma: 10 } as const;
    expect(() => createStatistic("lattice", wide)).toThrow("lower ticks, eventsPerTick, limit or sigma");
    expect(() => createStatistic("lattice", { ...base, ticks: 3, hides: 0, edges: [0, 5000] })).toThrow(
      "lower the last of the edges",
    );
    expect(() => createStatistic("elgamal", { ...base, edges: [0, 1_000_000_000] })).toThrow(
      "more than 10000 take minutes",
    );
  });

  it("nonsense, by the name of the field", () => {
    for (const edges of [[], [0], [1, 2], [0, 2, 2], [0, 1.5], [0, -1]]) {
      expect(() => createStatistic("lattice", { ...base, edges })).toThrow("edges are whole numbers");
    }
    expect(() => createStatistic("Lattice" as "lattice", base)).toThrow(
      "scheme is one of lattice, elgamal, not Lattice",
    );
    expect(() => createStatistic("lattice", { ...base, statistic: "mode" as "histogram" })).toThrow(
      "statistic is one of",
    );
    const wide = { statistic: "mean", ticks: 5, hides: 0, eventsPerTick: 1, limit: 10, sigma: 1e9 } as const;
    expect(() => createStatistic("lattice", wide)).toThrow(
      "sigma is a number above 0 and at most 100000 at this limit, not 1000000000",
    );
    expect(() => createStatistic("elgamal", { ...base, ticks: 0, hides: 0 })).toThrow("ticks is a whole number");
    expect(() => createStatistic("elgamal", { ...base, eventsPerTick: 0 })).toThrow("eventsPerTick is a whole number");
    const mean = { statistic: "mean", ticks: 5, hides: 0, eventsPerTick: 1, limit: 3, sigma: 1 } as const;
    expect(() => createStatistic("elgamal", { ...mean, limit: 0 })).toThrow("limit is a whole number");
    expect(() => createStatistic("lattice", { ...mean, sigma: 0 })).toThrow("sigma is a number above 0");
    expect(() =>
      createStatistic("lattice", { statistic: "occurrence", ticks: 5, hides: 0, localEpsilons: [] }),
    ).toThrow("at least one metric");
  });
});

describe("a whole day of ticks", () => {
  const DAY = 288;
  const specs = [
    { statistic: "occurrence", ticks: DAY, hides: 0, localEpsilons: [1, 1, 1] },
    { statistic: "histogram", ticks: DAY, hides: 0, eventsPerTick: 1, edges: [0, 1, 2, 5], localEpsilon: 15 },
    { statistic: "mean", ticks: DAY, hides: 0, eventsPerTick: 1, limit: 10, sigma: 0.01 },
  ] as const;

  /** What a report of this statistic goes through, written out: 2W = 2·288 encryptions, the polynomial, one more. */
  function historyOf({ statistic }: (typeof specs)[number]): NoiseHistory {
    if (statistic === "occurrence") return { encryptions: 2 * DAY + 1 };
    const multipliedBy = (N: number): Int32Array => {
      const polynomial = new Int32Array(N);
      for (let count = 0; count <= DAY; count++) {
        const bucket = count < 2 ? count : count < 5 ? 2 : 3;
        const exponent = (statistic === "histogram" ? bucket * (DAY + 1) : 0) - count;
        const weight = statistic === "histogram" ? 1 : Math.min(count, 10);
        polynomial[(exponent + N) % N] = exponent < 0 ? -weight : weight;
      }
      return polynomial;
    };
    return { encryptions: 2 * DAY, multipliedBy, encryptionsAfter: 1 };
  }

  for (const spec of specs) {
    it(`${spec.statistic}: reports open, and the failure bound counts every encryption and the polynomial`, () => {
      const { device, server, choice } = createStatistic("lattice", spec);
      const { parameters, plaintextBits, format, log2Failure } = choice as NonNullable<typeof choice>;
      expect(log2Failure).toBeLessThan(-40);
      expect(log2Failure).toBeCloseTo(log2FailureBound(parameters, plaintextBits, historyOf(spec))(format), 9);

      for (let round = 0; round < 3; round++) {
        const recorder = device.start(server.issueKey(master, context), random);
        let stored: Uint8Array | undefined;
        for (let tick = 0; tick < DAY; tick++) {
          if (tick < 3) recorder.record();
          stored = recorder.write();
        }
        const { valid, answers } = server.open(master, context, recorder.seal(stored as Uint8Array), random);
        expect(valid).toBe(true);
        if (spec.statistic === "mean") expect(answers).toEqual([3]);
        if (spec.statistic === "histogram") expect(answers).toEqual([0, 0, 1, 0]);
      }
    });
  }
});
