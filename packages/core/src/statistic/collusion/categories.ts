/*
 * This folder runs statistics with two servers against an intruder who has the keys of one of them: what a task asks for
 * with `collusion: "one-server"` (docs/two-servers.md). Devices keep slots shared in the exponent (`sharing/shared-slot.ts`)
 * and answer by randomized response or K-ary response; the servers open the answer, and nothing else. This file says which
 * statistics there are, `device.ts` and `server.ts` are the two halves. May import what the statistics may. Start reading
 * here.
 */
import type { Automaton, CategoryOutput } from "../automaton/automaton.ts";
import { requireStates } from "../automaton/parts.ts";
import { choiceAutomaton } from "../choice/choice.ts";
import { funnelAutomaton } from "../funnel/funnel.ts";
import { histogramAutomaton } from "../histogram/automaton.ts";
import { categoryMechanism, checkEdges, type HistogramMechanism } from "../histogram/histogram.ts";
import type { CollusionSpec } from "../spec.ts";
import { checkWrites } from "../writes.ts";

/** Of a statistic in which every device is in one category. */
export type CategorySpec = Exclude<CollusionSpec, { readonly statistic: "occurrence" }>;

/** An automaton with categories, and the K-ary response of a device that runs it. */
export interface AnsweredCategories {
  readonly automaton: Automaton & { readonly output: CategoryOutput };
  readonly mechanism: HistogramMechanism;
}

type Compile<Name extends string> = (spec: Extract<CategorySpec, { readonly statistic: Name }>) => Automaton;

const AUTOMATA: { readonly [Name in CategorySpec["statistic"]]: Compile<Name> } = {
  histogram: (spec) => {
    checkEdges(spec.edges);
    requireStates("edges", 1 + (spec.edges.at(-1) as number), "lower the last of the edges, or leave collusion out");
    return histogramAutomaton(spec);
  },
  choice: choiceAutomaton,
  funnel: funnelAutomaton,
};

/** Refuses with a `RangeError` what cannot run: a device keeps a slot for every state, and rerandomizes all at a write. */
export function answeredCategories(spec: CategorySpec): AnsweredCategories {
  checkWrites(spec);
  const { statistic, localEpsilon, mechanism = "kary" } = spec;
  if (mechanism !== "kary") {
    throw new RangeError(
      `mechanism is kary where collusion is one-server, not ${mechanism}: the servers take reports of one category only`,
    );
  }
  const automaton = (AUTOMATA[statistic] as Compile<typeof statistic>)(spec as never);
  const output = automaton.output as CategoryOutput;
  return {
    automaton: { ...automaton, output },
    mechanism: categoryMechanism(output.categories, { localEpsilon, mechanism }),
  };
}
