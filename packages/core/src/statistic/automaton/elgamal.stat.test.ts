import fc from "fast-check";
import { expect, it } from "vitest";
import { anyAutomaton, anySteps, reportAfter, stateAfter } from "../../../test/automata.ts";
import { fastRandomness } from "../../../test/fast-randomness.ts";
import { type DeviceKeyContext, secret } from "../../encryption/index.ts";
import { automatonStatistic } from "./server.ts";

const WRITES = { ticks: 12, hides: 40 };

it("any automaton on ElGamal reports the state of plain execution", { timeout: 900_000 }, () => {
  const numRuns = 200;
  const master = secret(new Uint8Array(32).fill(7));
  const context: DeviceKeyContext = { task: "t", window: 0, device: new Uint8Array(16), role: "tally", index: 0 };
  const random = fastRandomness("elgamal");
  let events = 0;
  const few = anySteps.map((steps) => steps.slice(0, 6));
  fc.assert(
    fc.property(anyAutomaton(4), few, (automaton, steps) => {
      const { output } = automaton;
      const all = Array.from({ length: automaton.states }, (_, state) => state);
      // The report is the truth, but for a probability of 10⁻⁸ with categories, and of 10⁻⁵⁰ with numbers.
      const numbers = output.kind === "number" ? all.map(output.numberOf) : [];
      const noise =
        output.kind === "number"
          ? { sigma: 0.06 / (Math.max(...numbers) - Math.min(...numbers)) }
          : ({ localEpsilon: 20, mechanism: "kary" } as const);
      const { device, server } = automatonStatistic(automaton, noise, WRITES);
      const report = reportAfter(device, server.issueKey(master, context), steps, random);
      const state = stateAfter(automaton, steps);
      const { valid, answers } = server.open(master, context, report, random);
      expect(valid).toBe(true);
      if (output.kind === "number") expect(answers).toEqual([output.numberOf(state)]);
      else expect(answers.indexOf(1)).toBe(output.categoryOf(state));
      expect(report).toHaveLength(64);
      events += steps.filter(({ step }) => step === "event").length;
    }),
    { numRuns },
  );
  console.log(JSON.stringify({ automata: numRuns, events }));
});
