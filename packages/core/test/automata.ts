import fc from "fast-check";
import type { Randomness } from "../src/randomness/index.ts";
import { type Automaton, periodOf } from "../src/statistic/automaton/automaton.ts";
import type { DeviceSide } from "../src/statistic/statistic.ts";

/** A step of a device's window. Ticks pass while it runs, or while it is off, with a write before and a restart after. */
export type Step =
  | { readonly step: "event"; readonly event: number; readonly times: number }
  | { readonly step: "ticks"; readonly ticks: number }
  | { readonly step: "off"; readonly ticks: number }
  | { readonly step: "write" };

const EVENTS = ["a", "b", "c"];

/** Any automaton with up to these many states, whose maps depend on the period. */
export function anyAutomaton(mostStates: number): fc.Arbitrary<Automaton> {
  const sizes = fc.record({
    states: fc.integer({ min: 2, max: mostStates }),
    events: fc.integer({ min: 1, max: EVENTS.length }),
    periods: fc.integer({ min: 1, max: 4 }),
    periodTicks: fc.integer({ min: 1, max: 3 }),
    categories: fc.integer({ min: 2, max: 5 }),
  });
  return sizes.chain(({ states, events, periods, periodTicks, categories }) => {
    const state = fc.integer({ min: 0, max: states - 1 });
    // Constant maps are rare among random ones, and have their own rule.
    const map = fc.oneof(
      { weight: 3, arbitrary: fc.array(state, { minLength: states, maxLength: states }) },
      { weight: 1, arbitrary: state.map((target) => new Array<number>(states).fill(target)) },
      { weight: 1, arbitrary: fc.constant(Array.from({ length: states }, (_, i) => i)) },
    );
    const maps = fc.array(map, { minLength: periods * (events + 1), maxLength: periods * (events + 1) });
    const values = fc.array(fc.integer({ min: -5, max: 9 }), { minLength: states, maxLength: states });
    return fc.record({ start: state, maps, values, isNumber: fc.boolean() }).map((drawn): Automaton => {
      const { start, maps: tables, values: numbers, isNumber } = drawn;
      const followed = (symbol: number, from: number, period: number): number =>
        (tables[period * (events + 1) + symbol] as number[])[from] as number;
      // Some state has another output than the first.
      const output = numbers.map((value, i) => (i === 0 ? 0 : i === 1 && value === 0 ? 1 : value));
      const categoryOf = (from: number) => Math.abs(output[from] as number) % categories;
      const isVaried = output.some((_, i) => categoryOf(i) !== 0);
      return {
        states,
        start,
        events: EVENTS.slice(0, events),
        periods,
        periodTicks,
        onEvent: (event, from, period) => followed(event, from, period),
        onEnd: (from, period) => followed(events, from, period),
        output:
          isNumber || !isVaried
            ? { kind: "number", numberOf: (from) => output[from] as number }
            : { kind: "category", categories, categoryOf },
      };
    });
  });
}

/** What happens in a window, with too many events at once for a loop over them to end. */
export const anySteps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({
      step: fc.constant("event" as const),
      event: fc.nat(EVENTS.length - 1),
      times: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 6, max: Number.MAX_SAFE_INTEGER })),
    }),
    fc.record({ step: fc.constant("ticks" as const), ticks: fc.nat(4) }),
    fc.record({ step: fc.constant("off" as const), ticks: fc.nat(6) }),
    fc.record({ step: fc.constant("write" as const) }),
  ),
  { maxLength: 14 },
);

/** The state at the end, by plain execution of the steps. */
export function stateAfter(automaton: Automaton, steps: readonly Step[]): number {
  let [state, period, tick] = [automaton.start, 0, 0];
  const reach = (due: number): void => {
    for (; period < due; period++) state = automaton.onEnd(state, period);
  };
  for (const step of steps) {
    if (step.step === "ticks" || step.step === "off") tick += step.ticks;
    reach(periodOf(automaton, tick));
    if (step.step === "event") state = followedOften(automaton, step, state, period);
  }
  reach(automaton.periods);
  return state;
}

/** Walks until it is where it has been, and skips whole rounds of that circle. */
function followedOften(
  automaton: Automaton,
  { event, times }: Step & { readonly step: "event" },
  from: number,
  period: number,
): number {
  const symbol = event % automaton.events.length;
  const walk = [from];
  for (;;) {
    const next = automaton.onEvent(symbol, walk.at(-1) as number, period);
    const first = walk.indexOf(next);
    if (first >= 0) {
      const place = times < walk.length ? times : first + ((times - first) % (walk.length - first));
      return walk[place] as number;
    }
    walk.push(next);
  }
}

/** What is seen of a device: all that it stored last, and its memory before and after each step. */
export type Look = (stored: Uint8Array | undefined, memory: Uint8Array) => void;

/** Runs the steps on a device and returns the report. */
export function reportAfter(
  device: DeviceSide,
  publicKey: Uint8Array,
  steps: readonly Step[],
  random: Randomness,
  look: Look = () => {},
): Uint8Array {
  let recorder = device.start(publicKey, random);
  let stored: Uint8Array | undefined;
  let tick = 0;
  const write = (): Uint8Array => {
    recorder.reach(tick);
    stored = recorder.write({ endsTick: false }) as Uint8Array;
    return stored;
  };
  recorder.reach(0);
  for (const step of steps) {
    if (step.step === "ticks" || step.step === "off") {
      if (step.step === "off") write();
      tick += step.ticks;
      if (step.step === "off") recorder = device.resume(publicKey, stored as Uint8Array, false, random);
      recorder.reach(tick);
    } else if (step.step === "write") write();
    else recorder.record(step.event % device.events.length, step.times);
    look(stored, recorder.inspect().ciphertexts);
  }
  // Sealing ends the periods that are left.
  return recorder.seal(recorder.write() as Uint8Array);
}
