import { type Fields, number, oneOf, optional } from "../../schema/index.ts";
import { categoryCharges, checkCategoryGoal, planCategories } from "../category-plan.ts";
import type { StatisticEntry, Summary, TaskExample, Words } from "../entry.ts";
import { MECHANISMS, requireHistogramEpsilon } from "../histogram/histogram.ts";
import { named } from "../metric-fields.ts";
import type { AnyShape, NamedMetric } from "../spec.ts";
import type { EventStream } from "../stream.ts";
import type { StatisticTypes } from "../table.ts";
import { writesIn } from "../writes.ts";
import { type Automaton, finalState } from "./automaton.ts";
import type { CategoryNoise } from "./device.ts";
import { automatonStatistic } from "./server.ts";

/** What is special about a statistic that is an automaton with categories. */
export interface NamedParts<Settings> {
  /** "a funnel metric", for messages. */
  readonly what: string;
  readonly fields: Fields<Settings>;
  /** Refuses settings that cannot be with a `RangeError` that begins with the name of the field. */
  automaton(settings: Settings, place: { readonly ticks: number }): Automaton;
  labels(settings: Settings): readonly string[];
  /** What somebody who starts a task file can begin with, but for its noise. */
  readonly example: TaskExample<Settings & Pick<NamedMetric, "name">>;
  summary?(settings: Settings): Summary;
  readonly words: Pick<Words, "question" | "heading" | "category" | "emptyFigure" | "events"> & {
    readonly title: (name: string) => string;
  };
}

/** The statistics that are such automata. */
type NamedStatisticName = "funnel" | "choice" | "active-periods" | "retention" | "joint";

type Spec = StatisticTypes[NamedStatisticName]["oneServer"];
type NamedStatisticMetric = StatisticTypes[NamedStatisticName]["metric"];

/** The noise of metrics with categories, as a task states it. */
export const categoryNoise: Fields<CategoryNoise> = {
  localEpsilon: number,
  mechanism: optional(oneOf(...MECHANISMS)),
};

/** The entry of such a statistic: everything that all of them have in common. */
export function namedEntry<Name extends NamedStatisticName, Settings extends object>(
  statistic: Name,
  parts: NamedParts<Settings>,
): StatisticEntry<Name> {
  const { what, fields, automaton, labels, example, summary, words } = parts;
  const { title, ...rest } = words;
  const { name, ...shape } = example.metric;
  const own = Object.keys(fields) as (keyof Settings)[];
  /** The fields of this statistic, among those of all. */
  const settingsIn = (shape: object): Settings =>
    Object.fromEntries(
      own.map((field) => [field, (shape as Settings)[field]]).filter(([, value]) => value !== undefined),
    );
  /** Those of a metric, whose event has its name if it states no other. */
  const settingsOf = (metric: NamedMetric): Settings => ({ event: metric.name, ...settingsIn(metric) }) as Settings;
  const entry: StatisticEntry<NamedStatisticName> = {
    task: {
      forms: [{ what, fields: { ...named, statistic: oneOf(statistic), ...fields, ...categoryNoise } }],
      check: (metric, place) => {
        automaton(settingsOf(metric), place);
        requireHistogramEpsilon(metric.localEpsilon, metric.mechanism);
      },
      events: (metric, place) => automaton(settingsOf(metric), place).events,
      example: {
        ...example,
        metric: { name, statistic, ...shape, localEpsilon: 1 } as unknown as NamedStatisticMetric,
      },
      questionOf: ({ localEpsilon, mechanism, ...metric }, delta) => ({
        goal: { localEpsilon, delta },
        ...(mechanism && { mechanism }),
        ...(settingsIn(metric) as AnyShape),
      }),
    },
    run: {
      oneServer: { elgamal: (spec, group) => automatonStatistic(automaton(settingsIn(spec), spec), spec, spec, group) },
      specOf: ({ mechanism, ...settings }, { localEpsilon }) => {
        const noise: CategoryNoise = { localEpsilon, ...(mechanism && { mechanism }) };
        return { statistic, ...writesIn(settings), ...settingsIn(settings), ...noise } as unknown as Spec;
      },
    },
    plan: {
      check: (question) => {
        automaton(settingsIn(question), question);
        checkCategoryGoal(question);
      },
      plan: (question) =>
        planCategories(question, labels(settingsIn(question)).length, (mechanism, localEpsilon) =>
          entry.run.specOf({ ...question, mechanism }, { localEpsilon }),
        ),
      charges: (spec, plan) => categoryCharges(labels(settingsIn(spec)).length, plan),
      rangeOf: ({ devices }) => devices,
    },
    answers: {
      outputs: ["categories"],
      output: () => "categories",
      labels: (shape) => labels(settingsIn(shape)),
      ...(summary && { summary: (shape: object) => summary(settingsIn(shape)) }),
      answer: (shape, stream) => answerOf(automaton(settingsIn(shape), { ticks: shape.ticks ?? 1 }), stream),
    },
    words: {
      unit: "devices",
      decimals: 0,
      figure: "a count",
      sigmaUnit: "in devices",
      ...rest,
      chart: { isShared: false, title },
    },
  };
  return entry as unknown as StatisticEntry<Name>;
}

/** What a device on which this happened truly adds to the sums, by plain execution. Events without a meaning pass. */
export function answerOf(automaton: Automaton, stream: EventStream): readonly number[] {
  const places = new Map(automaton.events.map((event, i) => [event, i]));
  const symbols = stream.flatMap(({ tick, event }) => {
    const place = places.get(event);
    return place === undefined ? [] : [{ event: place, tick }];
  });
  const state = finalState(automaton, symbols);
  const { output } = automaton;
  if (output.kind === "number") return [output.numberOf(state)];
  const own = output.categoryOf(state);
  return Array.from({ length: output.categories }, (_, category) => Number(category === own));
}
