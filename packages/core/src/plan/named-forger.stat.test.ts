import { afterAll, describe, expect, it } from "vitest";
import { atOneServer, documented, flipOf, reachedBuckets, reachedKary, reachedMean } from "../../test/forged-rows.ts";
import type { Forge } from "../../test/forger.ts";
import { join } from "../bytes.ts";
import { createElGamalCounter } from "../encryption/elgamal/elgamal.ts";
import { clampOf, createDiscreteGaussian, INVALID_COUNT_EPSILON } from "../privacy/index.ts";
import { activePeriodsAutomaton } from "../statistic/active-periods/active-periods.ts";
import type { Automaton } from "../statistic/automaton/automaton.ts";
import { generalAutomaton } from "../statistic/automaton/general.ts";
import { oneHotSlots } from "../statistic/automaton/one-hot.ts";
import { choiceAutomaton } from "../statistic/choice/choice.ts";
import { createStatistic } from "../statistic/create.ts";
import { funnelAutomaton } from "../statistic/funnel/funnel.ts";
import { jointAutomaton } from "../statistic/joint/joint.ts";
import { retentionAutomaton } from "../statistic/retention/retention.ts";
import type { StatisticSpec } from "../statistic/spec.ts";

/*
 * The ε that an intruder reaches who sends the captured state of a statistic that is an automaton as a report, against what
 * is documented, as in `forger.stat.test.ts`. The forger takes the slot of the state to which the first event leads,
 * which is 1 after the event and 0 without, and sends it instead of whatever the server reads, without any noise.
 */
const WRITES = { ticks: 2, hides: 0 } as const;
const CIPHERTEXT_BYTES = 64;
const scheme = createElGamalCounter({ minimum: 0, maximum: 1 });

/** Every ciphertext of the report is `constant` + `factor` · (the state is the one after the first event). */
function forgeFrom(
  { automaton, isRead = () => true }: { automaton: Automaton; isRead?: (state: number) => boolean },
  { length, constant, factor }: { length: number; constant: number; factor: number },
): Forge {
  const { states } = oneHotSlots(automaton, isRead);
  const slot = states.indexOf(automaton.onEvent(0, automaton.start, 0));
  expect(slot).toBeGreaterThanOrEqual(0);
  return (publicKey, stored, random) => {
    const key = scheme.decodePublicKey(publicKey);
    const at = stored.length - CIPHERTEXT_BYTES * (states.length - slot);
    const bit = scheme.decode(stored.subarray(at, at + CIPHERTEXT_BYTES));
    const one = (): Uint8Array =>
      scheme.encode(scheme.add(scheme.encrypt(key, constant, random), scheme.scale(factor, bit)));
    return join(Array.from({ length }, one));
  };
}

const paid = { statistic: "occurrence", event: "paid" } as const;
const GENERAL = {
  states: ["idle", "tried", "paid"],
  start: "idle",
  transitions: { idle: { "trial.started": "tried" }, tried: { paid: "paid" } },
};
const CATEGORIES = { idle: "no trial", tried: "tried", paid: "paid" };
const NUMBERS = { idle: 3, tried: 8, paid: -2 };

const CASES: readonly { statistic: string; settings: object; automaton: Automaton }[] = [
  named("funnel", funnelAutomaton, { steps: ["cart.opened", "checkout.started", "paid"] }),
  named("choice", choiceAutomaton, { options: ["pdf", "png", "svg"], keep: "first" as const }),
  named("active-periods", activePeriodsAutomaton, { event: "m0", periodTicks: 1, edges: [0, 1, 2] }),
  named("retention", retentionAutomaton, { event: "m0", periods: 2 }),
  named("joint", jointAutomaton, { of: [paid, { statistic: "choice", options: ["pdf", "png"] }] }),
  named("automaton", generalAutomaton, { ...GENERAL, outputs: CATEGORIES }),
];

function named<Settings extends object>(
  statistic: string,
  compile: (settings: Settings, place: { ticks: number }) => Automaton,
  settings: Settings,
) {
  return { statistic, settings, automaton: compile(settings, WRITES) };
}

const table: string[] = [];

function expectHidden(name: string, reached: number, { aggregate, hijacked }: ReturnType<typeof documented>): void {
  table.push(`| ${name} | ${[aggregate, reached, hijacked].map((epsilon) => epsilon.toFixed(3)).join(" | ")} |`);
  expect(reached).toBeGreaterThan(aggregate);
  expect(reached).toBeLessThanOrEqual(hijacked);
  // Hardly more than what is reached, and what the number of invalid reports may show.
  expect(hijacked).toBeLessThan(1.05 * reached + INVALID_COUNT_EPSILON / 2);
}

describe("documented versus reached", () => {
  it.each(CASES)("$statistic, kary", ({ statistic, settings, automaton }) => {
    const { output } = automaton;
    if (output.kind !== "category") throw new TypeError("not a category");
    const metric = { statistic, ...settings, localEpsilon: 1, mechanism: "kary" };
    const opens = atOneServer(createStatistic("elgamal", { ...metric, ...WRITES } as StatisticSpec));
    const forge = forgeFrom(
      { automaton, isRead: (state) => output.categoryOf(state) !== 0 },
      { length: 1, constant: 0, factor: 1 },
    );
    const category = (own: number) => Array.from({ length: output.categories }, (_, each) => Number(each === own));
    for (let i = 0; i < 2; i++) expect(opens(forge, i)).toEqual({ valid: true, answers: category(i) });
    expectHidden(`${statistic}, kary`, reachedKary(output.categories, 1)(1), documented("one-server", metric));
  });

  it.each(CASES)("$statistic, unary", ({ statistic, settings, automaton }) => {
    const { output } = automaton;
    if (output.kind !== "category") throw new TypeError("not a category");
    const metric = { statistic, ...settings, localEpsilon: 1, mechanism: "unary" };
    const opens = atOneServer(createStatistic("elgamal", { ...metric, ...WRITES } as StatisticSpec));
    const forge = forgeFrom({ automaton }, { length: output.categories, constant: 0, factor: 1 });
    const all = (bit: number) => new Array<number>(output.categories).fill(bit);
    for (let i = 0; i < 2; i++) expect(opens(forge, i)).toEqual({ valid: true, answers: all(i) });
    const reached = reachedBuckets(output.categories, 1 / 2, flipOf(1))(1);
    expectHidden(`${statistic}, unary`, reached, documented("one-server", metric));
  });

  it("an automaton with numbers: a report that opens as far outside as the clamp allows", () => {
    const settings = { ...GENERAL, outputs: NUMBERS };
    const metric = { statistic: "automaton", ...settings, sigma: 2 };
    const opens = atOneServer(createStatistic("elgamal", { ...metric, ...WRITES } as StatisticSpec));
    const clamp = clampOf(createDiscreteGaussian(20));
    const ends = [-2 - clamp, 8 + clamp] as const;
    const forge = forgeFrom(
      { automaton: generalAutomaton(settings, WRITES), isRead: (state) => state !== -1 },
      { length: 1, constant: ends[0], factor: ends[1] - ends[0] },
    );
    for (let i = 0; i < 2; i++) expect(opens(forge, i)).toEqual({ valid: true, answers: [ends[i]] });
    expectHidden("automaton, numbers of a range of 10, σ 2", reachedMean(10, 2)(1), documented("one-server", metric));
  });

  afterAll(() => {
    console.log(["| statistic | aggregate ε | reached | documented |", "|---|---|---|---|", ...table].join("\n"));
  });
});
