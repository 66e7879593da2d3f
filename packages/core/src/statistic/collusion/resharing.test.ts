import { describe, expect, it } from "vitest";
import {
  areUniformTogether,
  type LinearForm,
  linearForms,
  type Numbers,
  numbersModulo,
  type ResharingFault,
  type Shares,
  sharedOn,
} from "../../../test/resharing.ts";
import { split } from "../../bytes.ts";
import type { Randomness } from "../../randomness/index.ts";
import type { Automaton, CategoryOutput } from "../automaton/automaton.ts";
import { finalState } from "../automaton/automaton.ts";
import { encryptedAutomata } from "../automaton/machine.ts";
import { oneHotSlots } from "../automaton/one-hot.ts";
import { answeredBits, type BitResponse } from "../automaton/sealing.ts";
import { categorySums } from "../automaton/sums.ts";
import { choiceAutomaton } from "../choice/choice.ts";
import { funnelAutomaton } from "../funnel/funnel.ts";
import { histogramAutomaton } from "../histogram/automaton.ts";
import { encryptedOccurrence } from "../occurrence/automaton.ts";

/*
 * Lemma 1 of docs/two-servers.md, without sampling: whatever happens on a device, and whatever its mechanism draws, the
 * shares of one server in everything that is ever visible (each stored version, a memory dump in each segment, the
 * report) are independent and uniform. The device's own code runs, on shares without encryption.
 */
const ROLES = ["leader", "helper"] as const;
/** The events of each segment. */
type Sequence = readonly (readonly number[])[];
/** Whether the answer is kept, or which category replaces it. */
type Coin = "keep" | number;

/** What is visible of a device in one window, slot by slot. */
interface Visible<Share> {
  readonly slots: readonly Shares<Share>[];
  readonly report: readonly Shares<Share>[];
}

const WRITES = { ticks: 8, hides: 0 };

interface Device<Share> {
  readonly scheme: ReturnType<typeof sharedOn<Share>>;
  start(coin: Coin, random: Randomness): ReturnType<ReturnType<typeof encryptedAutomata>["start"]>;
}

function deviceOf<Share>(
  automaton: (Automaton & { output: CategoryOutput }) | "occurrence",
  numbers: Numbers<Share>,
  fault?: ResharingFault,
): Device<Share> {
  const scheme = sharedOn(numbers, fault);
  const responses = (coin: Coin, length: number): BitResponse[] =>
    Array.from({ length }, (_, i) => (coin === "keep" ? "keep" : coin === i ? 1 : 0));
  return {
    scheme,
    start: (coin, random) => {
      if (automaton === "occurrence") {
        const only = encryptedOccurrence<Shares<Share>>("happened", () => responses(coin, 1)[0] as BitResponse);
        return encryptedAutomata(scheme.scheme, WRITES, [only]).start(Uint8Array.of(0), random);
      }
      const { categories, categoryOf } = automaton.output;
      const slots = oneHotSlots(automaton, () => true);
      const sums = categorySums(slots.states, categories, categoryOf);
      const sealing = answeredBits<Shares<Share>>(sums, () => responses(coin, categories));
      return encryptedAutomata(scheme.scheme, WRITES, [{ slots, sealing }]).start(Uint8Array.of(0), random);
    },
  };
}

/** Lives through a window: in each segment its events, a dump, a write. */
function live<Share>(
  { scheme, start }: Device<Share>,
  sequence: Sequence,
  coin: Coin,
  random: Randomness,
): Visible<Share> {
  const recorder = start(coin, random);
  const slotsIn = (bytes: Uint8Array): Shares<Share>[] =>
    split(bytes, bytes.length / scheme.scheme.ciphertextBytes).map(scheme.decode);
  const header = 10;
  const slots: Shares<Share>[] = [];
  let stored = new Uint8Array();
  for (const events of sequence) {
    for (const event of events) recorder.record(event);
    slots.push(...slotsIn(recorder.inspect().ciphertexts));
    stored = new Uint8Array(recorder.write() ?? []);
    slots.push(...slotsIn(stored.subarray(header)));
  }
  return { slots, report: slotsIn(recorder.seal(stored)) };
}

/** All lists of this length with these entries. */
function listsOf<T>(entries: readonly T[], length: number): T[][] {
  if (length === 0) return [[]];
  return listsOf(entries, length - 1).flatMap((list) => entries.map((entry) => [...list, entry]));
}

const CATEGORIES = {
  choice: choiceAutomaton({ options: ["one", "two"], keep: "last" }),
  funnel: funnelAutomaton({ steps: ["one", "two"] }),
  histogram: histogramAutomaton({ ...WRITES, edges: [0, 1, 3], localEpsilon: 1 }),
};
type Categories = Automaton & { output: CategoryOutput };

describe("shares modulo a small prime, over all draws", () => {
  const cases = [
    { name: "an occurrence modulo 3, one segment", automaton: "occurrence", p: 3, segments: 1 },
    { name: "an occurrence modulo 2, two segments", automaton: "occurrence", p: 2, segments: 2 },
    { name: "a choice modulo 2, one segment", automaton: "one option", p: 2, segments: 1 },
  ] as const;

  it.each(cases)("$name: each server's have the same distribution whatever happens", ({ automaton, p, segments }) => {
    const option = choiceAutomaton({ options: ["one"], keep: "last" }) as Categories;
    const subject = automaton === "occurrence" ? automaton : option;
    for (const sequence of listsOf([[], [0]], segments)) {
      for (const coin of ["keep", 0] as const) {
        for (const counts of Object.values(distributions(subject, p, sequence, coin))) {
          // Every view is there, and equally often.
          expect(new Set(counts.views.values()).size).toBe(1);
          expect(counts.views.size).toBe(p ** counts.shares);
        }
      }
    }
  });

  it("notices slots that are not shared, and shares that are kept", () => {
    for (const fault of ["fresh slots are not shared", "rerandomizing keeps the shares"] as const) {
      const { leader } = distributions("occurrence", 3, [[0]], "keep", fault);
      expect(leader.views.size).toBeLessThan(3 ** leader.shares);
    }
  });
});

/** How often each server sees what, over all draws. */
function distributions(
  automaton: Categories | "occurrence",
  p: number,
  sequence: Sequence,
  coin: Coin,
  fault?: ResharingFault,
) {
  const numbers = numbersModulo(p);
  const run = (tape: readonly number[]) => {
    let draws = 0;
    const visible = live(deviceOf(automaton, numbers, fault), sequence, coin, (into) => {
      into[0] = tape[draws++] ?? 0;
    });
    return { draws, all: [...visible.slots, ...visible.report] };
  };
  const { draws, all } = run([]);
  const counts = { leader: new Map<string, number>(), helper: new Map<string, number>() };
  const tape = new Array<number>(draws).fill(0);
  for (let left = p ** draws; left > 0; left--) {
    const seen = run(tape).all;
    for (const role of ROLES) {
      const view = seen.map((share) => share[role]).join();
      counts[role].set(view, (counts[role].get(view) ?? 0) + 1);
    }
    increase(tape, p);
  }
  const of = (role: (typeof ROLES)[number]) => ({ views: counts[role], shares: all.length });
  return { leader: of("leader"), helper: of("helper") };
}

/** The next list of digits. */
function increase(digits: number[], base: number): void {
  for (let i = 0; i < digits.length; i++) {
    digits[i] = ((digits[i] as number) + 1) % base;
    if (digits[i] !== 0) return;
  }
}

describe("shares modulo any prime, on paper", () => {
  const noDraw: Randomness = () => {
    throw new Error("a form is drawn without randomness");
  };
  const segment = [[], [0], [1], [0, 1], [1, 0, 0]];
  const names = ["choice", "funnel", "histogram"] as const;
  const sequencesOf = (events: number): Sequence[] =>
    listsOf(
      segment.filter((each) => each.every((event) => event < events)),
      3,
    );

  it.each(names)("%s: each server's are uniform together, and both add up to the answer", (name) => {
    const automaton = CATEGORIES[name] as Categories;
    const sequences = sequencesOf(automaton.events.length);
    expect(sequences.length).toBeGreaterThanOrEqual(8);
    for (const sequence of sequences) {
      const truth = automaton.output.categoryOf(
        finalState(
          automaton,
          sequence.flat().map((event) => ({ event, tick: 0 })),
        ),
      );
      for (const coin of ["keep", 1] as const) {
        const numbers = linearForms();
        const { slots, report } = live(deviceOf(automaton, numbers), sequence, coin, noDraw);
        for (const role of ROLES) {
          expect(areUniformTogether([...slots, ...report].map((share) => share[role]))).toBe(true);
        }
        const answer = coin === "keep" ? truth : coin;
        const sums = report.map(({ leader, helper }) => numbers.add(leader, helper));
        expect(sums).toEqual(
          sums.map((_, i): LinearForm => ({ constant: Number(i === answer), multiples: new Map() })),
        );
      }
    }
  });

  it("notices slots that are not shared, and shares that are kept", () => {
    for (const fault of ["fresh slots are not shared", "rerandomizing keeps the shares"] as const) {
      const { slots } = live(
        deviceOf(CATEGORIES.choice as Categories, linearForms(), fault),
        [[], [0]],
        "keep",
        noDraw,
      );
      expect(areUniformTogether(slots.map(({ leader }) => leader))).toBe(false);
    }
  });
});
