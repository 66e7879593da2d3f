import { sigmaFor } from "../../privacy/index.ts";
import { categoryCharges, checkCategoryGoal, planCategories } from "../category-plan.ts";
import type { PlanningPart, StatisticEntry, Words } from "../entry.ts";
import type { MeanTypes } from "../mean/mean.ts";
import { meanPlanning } from "../mean/plan.ts";
import type { MetricPlan } from "../question.ts";
import { MEAN_DELTA } from "../statistic.ts";
import { writesIn } from "../writes.ts";
import type { NumberNoise } from "./device.ts";
import { automatonInTasks, settingsIn } from "./fields.ts";
import {
  type AutomatonTypes,
  type GeneralSettings,
  generalAutomaton,
  generalLabels,
  hasNumbers,
  rangeOf,
} from "./general.ts";
import { answerOf } from "./named-entry.ts";
import { automatonStatistic } from "./server.ts";

type Spec = AutomatonTypes["oneServer"];

/** The noise and the error of an automaton with numbers are those of a mean whose limit is the numbers' range. */
function asMean(spec: Spec & NumberNoise): MeanTypes["oneServer"] {
  return { statistic: "mean", ...writesIn(spec), limit: rangeOf(spec), sigma: spec.sigma };
}

function withNumbers(spec: MetricPlan["spec"]): (Spec & NumberNoise) | undefined {
  return spec.statistic === "automaton" && "sigma" in spec ? spec : undefined;
}

function specOf(
  settings: { readonly ticks: number } & object,
  noise: { readonly sigma: number } | { readonly localEpsilon: number },
): Spec {
  return { statistic: "automaton", ...writesIn(settings), ...settingsIn(settings), ...noise };
}

/** What automata cost. */
const planning: PlanningPart<"automaton"> = {
  check: (question) => {
    const settings = settingsIn(question);
    generalAutomaton(settings, question);
    if (!hasNumbers(settings)) checkCategoryGoal(question);
    else meanPlanning.check({ ...question, limit: rangeOf(settings) });
  },
  plan: (question) => {
    const settings = settingsIn(question);
    if (!hasNumbers(settings)) {
      return planCategories(question, generalLabels(settings).length, (mechanism, localEpsilon) => ({
        ...specOf(question, { localEpsilon }),
        mechanism,
      }));
    }
    const plan = meanPlanning.plan({ ...question, limit: rangeOf(settings) });
    return { ...plan, spec: specOf(question, { sigma: plan.sigma as number }) };
  },
  asItRuns: (plan) => {
    const spec = withNumbers(plan.spec);
    return spec && meanPlanning.asItRuns ? { ...meanPlanning.asItRuns({ ...plan, spec: asMean(spec) }), spec } : plan;
  },
  charges: (spec, plan) => {
    const own = withNumbers(spec);
    return own ? meanPlanning.charges(asMean(own), plan) : categoryCharges(generalLabels(spec).length, plan);
  },
  rangeOf: ({ devices }) => devices,
};

const WORDS: Words = {
  question: "Anything else that a finite automaton can answer",
  unit: "devices",
  decimals: 0,
  figure: "a count",
  emptyFigure: "an empty category",
  sigmaUnit: "in units of the outputs' range",
  heading: "category",
  events: "every event that the automaton names is applied",
  chart: { isShared: false, title: (name) => `${name}: devices by category` },
};

/**
 * On how many devices does an automaton of the task's own end in each category, or which number does it end with on
 * average? Start reading at `automaton.ts`; `general.ts` compiles what a task states. `named-entry.ts` is what the
 * statistics have in common that are automata with names of their own.
 */
export const automaton: StatisticEntry<"automaton"> = {
  task: automatonInTasks,
  run: {
    oneServer: { elgamal: (spec, group) => automatonStatistic(generalAutomaton(spec, spec), spec, spec, group) },
    specOf: (settings, { localEpsilon, sigma }) => {
      const own = settingsIn(settings);
      if (!hasNumbers(own)) return specOf(settings, { localEpsilon });
      return specOf(settings, { sigma: sigma ?? sigmaFor(localEpsilon, MEAN_DELTA, rangeOf(own)) });
    },
  },
  plan: planning,
  answers: {
    outputs: ["categories", "average"],
    output: (shape) => (hasNumbers(shape as GeneralSettings) ? "average" : "categories"),
    labels: (shape) => generalLabels(shape as GeneralSettings),
    answer: (shape, stream) => answerOf(generalAutomaton(settingsIn(shape), { ticks: shape.ticks ?? 1 }), stream),
  },
  words: WORDS,
  averageWords: {
    ...WORDS,
    unit: "",
    decimals: 3,
    figure: "the mean",
    emptyFigure: "the mean",
    heading: "metric",
    chart: { isShared: false, title: (name) => `${name}: mean over the devices` },
  },
};
