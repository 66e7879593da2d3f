import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyAutomaton, anySteps, reportAfter, type Step, stateAfter } from "../../../test/automata.ts";
import { coordinatesOf } from "../../../test/coordinates.ts";
import { fastRandomness } from "../../../test/fast-randomness.ts";
import { areIndependent, createSymbolic } from "../../../test/symbolic.ts";
import { transparent } from "../../../test/transparent.ts";
import { split } from "../../bytes.ts";
import { elgamalIntegers } from "../../encryption/elgamal/elgamal.ts";
import { type DeviceKeyContext, type ElGamalCiphertext, secret } from "../../encryption/index.ts";
import { drawDiscreteGaussian } from "../../privacy/discrete-gaussian.ts";
import { respondKary } from "../../privacy/kary-response.ts";
import { createStatistic } from "../create.ts";
import { respondHistogram } from "../histogram/answer.ts";
import { meanNoise } from "../mean/mean.ts";
import { occurrenceDevice } from "../occurrence/automaton.ts";
import { type Automaton, finalState, periodOf } from "./automaton.ts";
import { counter } from "./counter.ts";
import { type AutomatonAnswers, answersOf, automatonDevice, encryptedAutomaton } from "./device.ts";
import { levelSlots } from "./levels.ts";
import { encryptedAutomata } from "./machine.ts";
import { oneHotSlots } from "./one-hot.ts";
import { automatonServer, automatonStatistic } from "./server.ts";
import { composed, type Move, repeated } from "./slots.ts";

const WRITES = { ticks: 12, hides: 40 };
const ENDS_BYTES = 4;
const mechanisms = fc.constantFrom("kary", "unary", "per-bucket");

function noised(automaton: Automaton, mechanism: string): AutomatonAnswers {
  const name = mechanism as "kary" | "unary" | "per-bucket";
  return answersOf(
    automaton,
    automaton.output.kind === "number" ? { sigma: 0.5 } : { localEpsilon: 1, mechanism: name },
  );
}

/** What the report says, given the same coins: the true answer with the noise that the device draws. */
function expectedMessages(answers: AutomatonAnswers, state: number, coins: string): number[] {
  const random = fastRandomness(coins);
  if (answers.kind === "number") {
    return [answers.output.numberOf(state) + Number(drawDiscreteGaussian(meanNoise(answers.numbers), random))];
  }
  const { mechanism, output } = answers;
  const category = output.categoryOf(state);
  if (mechanism.name === "kary") return [respondKary(mechanism, category, random)];
  return respondHistogram(mechanism, category, random);
}

describe("any automaton, with any stream of events, periods, writes and restarts", () => {
  it("reports the state of plain execution; slots are independent in storage and memory", () => {
    const numRuns = 10_000;
    let [events, slots, looks] = [0, 0, 0];
    fc.assert(
      fc.property(anyAutomaton(8), anySteps, mechanisms, fc.string(), (automaton, steps, mechanism, coins) => {
        const { scheme, decode } = createSymbolic();
        const answers = noised(automaton, mechanism);
        const device = encryptedAutomata(scheme, WRITES, [encryptedAutomaton(scheme, automaton, answers)]);
        const ends = automaton.periods > 1 ? ENDS_BYTES : 0;
        const ciphertextsIn = (bytes: Uint8Array) => split(bytes, bytes.length / 4).map(decode);
        const report = reportAfter(device, Uint8Array.of(0), steps, fastRandomness(coins), (stored, memory) => {
          const seen = stored ? ciphertextsIn(stored.subarray(10 + ends)) : [];
          const all = [...seen, ...ciphertextsIn(memory.subarray(ends))];
          expect(areIndependent(all)).toBe(true);
          looks++;
        });
        const opened = ciphertextsIn(report).map(({ message }) => message);
        expect(opened).toEqual(expectedMessages(answers, stateAfter(automaton, steps), coins));
        events += steps.filter(({ step }) => step === "event").length;
        slots += (device.bytes.state - 10 - ends) / 4;
      }),
      { numRuns },
    );
    console.log(JSON.stringify({ automata: numRuns, events, slots, looks }));
  });

  it("is executed by `finalState` as by the steps", () => {
    fc.assert(
      fc.property(anyAutomaton(8), anySteps, (automaton, steps) => {
        const few = steps.map((step) => (step.step === "event" ? { ...step, times: 1 + (step.times % 3) } : step));
        let tick = 0;
        const stream = few.flatMap((step) => {
          if (step.step === "ticks" || step.step === "off") tick += step.ticks;
          if (step.step !== "event") return [];
          return new Array(step.times).fill({ event: step.event % automaton.events.length, tick });
        });
        expect(finalState(automaton, stream)).toBe(stateAfter(automaton, few));
      }),
      { numRuns: 2000 },
    );
  });
});

/** Funnel-like: idle, tried, paid; a refund leads back. */
const trial: Automaton = {
  states: 3,
  start: 0,
  events: ["try", "pay", "refund"],
  periods: 2,
  periodTicks: 3,
  onEvent: (event, state) => ([state === 0 ? 1 : state, state === 1 ? 2 : state, 0] as const)[event] as number,
  onEnd: (state) => state,
  output: { kind: "category", categories: 3, categoryOf: (state) => state },
};

describe("moves", () => {
  const move: fc.Arbitrary<Move> = fc
    .array(fc.integer({ min: -2, max: 5 }), { minLength: 6, maxLength: 6 })
    .map((targets) => oneHotMove(targets.map((target) => Math.max(target, 0))));
  function oneHotMove(targets: readonly number[]): Move {
    const automaton = { ...counter("x", 5), onEvent: (_: number, state: number) => targets[state] as number };
    return oneHotSlots(automaton, () => true).onEvent(0, 0);
  }
  const applied = (moved: Move, bits: readonly number[]): number[] =>
    moved.map((sources) =>
      typeof sources === "number" ? sources : sources.reduce((sum, source) => sum + (bits[source] as number), 0),
    );
  const oneHot = (state: number) => Array.from({ length: 6 }, (_, each) => Number(each === state));

  it("compose, and repeat by squaring, as maps of states do", () => {
    fc.assert(
      fc.property(move, move, fc.nat(5), fc.integer({ min: 1, max: 40 }), (first, second, state, times) => {
        const bits = oneHot(state);
        expect(applied(composed(first, second), bits)).toEqual(applied(second, applied(first, bits)));
        let walked: number[] = bits;
        for (let i = 0; i < times; i++) walked = applied(first, walked);
        expect(applied(repeated(first, times), bits)).toEqual(walked);
      }),
      { numRuns: 2000 },
    );
  });

  it("use every old slot at most once, so that nothing is copied", () => {
    fc.assert(
      fc.property(move, move, fc.integer({ min: 1, max: 40 }), (first, second, times) => {
        const sources = composed(first, repeated(second, times)).flatMap((each) =>
          typeof each === "number" ? [] : each,
        );
        expect(new Set(sources).size).toBe(sources.length);
      }),
    );
  });
});

describe("what memory holds", () => {
  const everyEvent = [0, 1, 2].map((event) => ({ step: "event", event, times: 1 }) as const);
  const steps: Step[] = everyEvent.flatMap((event) => [event, { step: "write" }, event, { step: "ticks", ticks: 2 }]);

  /** Points in other coordinates than decoding gives, at any of the looks. */
  function tellingPoints(scheme: typeof elgamalIntegers): number {
    const { publicKey } = elgamalIntegers.generateKeys(fastRandomness("coordinates"));
    let telling = 0;
    const looking = {
      ...scheme,
      encode: (ciphertext: ElGamalCiphertext) => {
        const bytes = scheme.encode(ciphertext);
        const decoded = scheme.decode(bytes);
        for (const half of ["ephemeral", "masked"] as const) {
          const [kept, canonical] = [ciphertext[half], decoded[half]].map((point) => coordinatesOf(point).join());
          if (kept !== canonical) telling++;
        }
        return bytes;
      },
    };
    const answers = answersOf(trial, { localEpsilon: 1, mechanism: "kary" });
    const device = encryptedAutomata(looking, WRITES, [encryptedAutomaton(looking, trial, answers)]);
    reportAfter(device, elgamalIntegers.encodePublicKey(publicKey), steps, fastRandomness("coordinates"));
    return telling;
  }

  it("are points in the coordinates that decoding gives, whatever was encrypted, added or moved", () => {
    expect(tellingPoints(elgamalIntegers)).toBe(0);
  });

  it("would tell sums, if these were kept as they are computed", () => {
    const add = (left: ElGamalCiphertext, right: ElGamalCiphertext): ElGamalCiphertext => ({
      ephemeral: left.ephemeral.add(right.ephemeral),
      masked: left.masked.add(right.masked),
    });
    expect(tellingPoints({ ...elgamalIntegers, add })).toBeGreaterThan(0);
  });

  it("would be dependent, if a slot were copied", () => {
    const { scheme, decode } = createSymbolic();
    const { slots, sealing } = encryptedAutomaton(scheme, trial, noised(trial, "kary"));
    const copying = { ...slots, onEvent: (): Move => [[0], [0], [2]] };
    const device = encryptedAutomata(scheme, WRITES, [{ slots: copying, sealing }]);
    const recorder = device.start(Uint8Array.of(0), fastRandomness("copies"));
    const memory = () => split(recorder.inspect().ciphertexts.subarray(ENDS_BYTES), 3).map(decode);
    expect(areIndependent(memory())).toBe(true);
    recorder.record();
    expect(areIndependent(memory())).toBe(false);
  });
});

describe("metrics that have the same event", () => {
  it("all count it", () => {
    const spec = { ...WRITES, localEpsilons: [20, 20, 20], events: ["a", "b", "a"] };
    const device = occurrenceDevice(transparent, spec);
    expect(device.events).toEqual(["a", "b"]);
    const reportOf = (event: number): number[] => {
      const recorder = device.start(new Uint8Array(3), fastRandomness("same event"));
      recorder.record(event);
      return [...new Int32Array(recorder.seal(recorder.write() as Uint8Array).slice().buffer)];
    };
    expect(reportOf(0)).toEqual([1, 0, 1]);
    expect(reportOf(1)).toEqual([0, 1, 0]);
    const ledger = createStatistic("lattice", { statistic: "occurrence", ...spec, localEpsilons: [1, 1, 1] });
    expect(ledger.device.events).toEqual(["a", "b"]);
  });
});

describe("the slots that are kept", () => {
  const slotsOf = (automaton: Automaton) =>
    automatonDevice(automaton, { localEpsilon: 1, mechanism: "kary" }, WRITES).bytes.state;

  it("an occurrence has one, as one-hot vector and as level", () => {
    const occurrence = counter("x", 1);
    expect(oneHotSlots(occurrence, (state) => state === 1).states).toEqual([1]);
    expect(oneHotSlots(occurrence, (state) => state === 1).onEvent(0, 0)).toEqual([1]);
    expect(levelSlots(occurrence).onEvent(0, 0)).toEqual([1]);
  });

  it("a counter up to k has k levels: the new ones are fresh, the others move up", () => {
    const levels = levelSlots(counter("x", 4));
    expect(levels.initial).toEqual([0, 0, 0, 0]);
    expect(levels.onEvent(0, 0)).toEqual([1, [0], [1], [2]]);
    expect(repeated(levels.onEvent(0, 0), 3)).toEqual([1, 1, 1, [0]]);
  });

  it("an automaton that needs a level twice has none", () => {
    for (const onEvent of [(_: number, s: number) => Math.min(2 * s, 4), (_: number, s: number) => 4 - s]) {
      expect(() => levelSlots({ ...counter("x", 4), onEvent }).onEvent(0, 0)).toThrow(TypeError);
    }
  });

  it("a state that no output reads is kept only if a symbol leads on from it", () => {
    // 0 leads on to 1 and 2; 3 is a dead end that counts as 0.
    const targets = [
      [1, 1, 2, 3],
      [0, 2, 2, 3],
      [0, 3, 3, 3],
    ];
    const dying = {
      ...counter("x", 3),
      events: ["a", "b", "c"],
      onEvent: (e: number, s: number) => targets[e]?.[s] ?? s,
    };
    expect(oneHotSlots(dying, (state) => state === 1 || state === 2).states).toEqual([0, 1, 2]);
  });

  it("a symbol that leads to one state from everywhere makes it a fresh 1, and the others fresh zeros", () => {
    expect(oneHotSlots(trial, (state) => state !== 0).states).toEqual([0, 1, 2]);
    expect(oneHotSlots(trial, () => true).onEvent(2, 0)).toEqual([1, 0, 0]);
  });

  it("their number and the count of ends are all that a state holds", () => {
    expect(slotsOf(trial)).toBe(10 + ENDS_BYTES + 3 * 64);
    expect(slotsOf({ ...trial, periods: 1 })).toBe(10 + 3 * 64);
  });
});

describe("the ends of periods", () => {
  const { device, server } = automatonStatistic(trial, { localEpsilon: 1 }, WRITES);
  const master = secret(new Uint8Array(32).fill(1));
  const context: DeviceKeyContext = { task: "t", window: 0, device: new Uint8Array(16), role: "tally", index: 0 };
  const key = server.issueKey(master, context);
  const random = fastRandomness("ends");
  const endsIn = (stored: Uint8Array | undefined) =>
    new DataView((stored as Uint8Array).slice().buffer).getUint32(10, true);

  it("are stored by the tick that is reached alone, forwards only, and never cause a write", () => {
    const recorder = device.start(key, random);
    const { writes } = recorder.left;
    for (const [tick, ends] of [
      [0, 0],
      [2, 0],
      [3, 1],
      [1, 1],
      [100, 1],
    ] as const) {
      recorder.reach(tick);
      expect(recorder.left.writes).toBe(writes);
      const memory = recorder.inspect().ciphertexts;
      expect(new DataView(memory.slice().buffer).getUint32(0, true)).toBe(ends);
    }
    expect(endsIn(recorder.write())).toBe(1);
    expect(periodOf(trial, 100)).toBe(1);
  });

  it("a state with more ends than the window has before sealing is refused", () => {
    const stored = device.start(key, random).write() as Uint8Array;
    const changed = stored.slice();
    changed[10] = 2;
    expect(() => device.resume(key, changed, true, random)).toThrow(
      "a stored state has ended fewer than 2 periods, not 2",
    );
  });
});

describe("what no honest device sends", () => {
  it("counts as a draw on the state that the ends of periods alone lead to", () => {
    // Every end moves one on: after both it is state 2.
    const moving: Automaton = { ...trial, onEnd: (state) => (state + 1) % 3 };
    expect(finalState(moving, [])).toBe(2);
    const { scheme } = createSymbolic();
    const server = automatonServer(scheme, moving, noised(moving, "kary"));
    const exact = automatonServer(scheme, moving, answersOf(moving, { localEpsilon: 20, mechanism: "kary" }));
    const master = secret(new Uint8Array(32));
    const context: DeviceKeyContext = { task: "t", window: 0, device: new Uint8Array(16), role: "tally", index: 0 };
    for (const message of [3, -1, 1000]) {
      const report = scheme.encode(scheme.encrypt(null, message, () => {}));
      expect(server.open(master, context, report, fastRandomness("invalid")).valid).toBe(false);
      expect(exact.open(master, context, report, fastRandomness("invalid")).answers).toEqual([0, 0, 1]);
    }
    expect(exact.open(master, context, new Uint8Array(3), fastRandomness("invalid")).answers).toEqual([0, 0, 1]);
  });
});

describe("an automaton is refused", () => {
  it("if its outputs are all the same, or its noise is for others", () => {
    const same: Automaton = { ...trial, output: { kind: "number", numberOf: () => 4 } };
    expect(() => automatonDevice(same, { sigma: 1 }, WRITES)).toThrow(new RangeError("outputs are all the same"));
    expect(() => automatonDevice(trial, { sigma: 1 }, WRITES)).toThrow("localEpsilon is required");
    const numbers: Automaton = { ...trial, output: { kind: "number", numberOf: (state) => state } };
    expect(() => automatonDevice(numbers, { localEpsilon: 1 }, WRITES)).toThrow("sigma is required");
    expect(() => automatonDevice(numbers, { sigma: 1e9 }, WRITES)).toThrow(RangeError);
  });
});
