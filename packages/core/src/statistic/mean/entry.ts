import { sigmaFor, sumUpTo } from "../../privacy/index.ts";
import type { StatisticEntry } from "../entry.ts";
import { MEAN_DELTA } from "../statistic.ts";
import { countOf } from "../stream.ts";
import { writesIn } from "../writes.ts";
import { elgamalMean } from "./elgamal.ts";
import { meanInTasks } from "./fields.ts";
import { meanPlanning, meanSpecOf } from "./plan.ts";
import { rotationMean } from "./rotation.ts";
import { twoServerMean } from "./two-server.ts";

/**
 * The average over all devices of the number of events, cut at a limit. Start reading at `mean.ts`. `automaton.ts` is the
 * paper's algorithm, which `elgamal.ts` runs, `rotation.ts` that on lattices, `two-server.ts` that on shared bits.
 */
export const mean: StatisticEntry<"mean"> = {
  task: meanInTasks,
  run: {
    oneServer: { lattice: rotationMean, elgamal: elgamalMean },
    specOf: (settings, { localEpsilon, sigma = sigmaFor(localEpsilon, MEAN_DELTA, settings.limit) }) =>
      meanSpecOf(settings, sigma),
    twoServers: {
      create: twoServerMean,
      noise: ["servers"],
      serverNoiseSpecOf: (settings, sigma) => ({
        statistic: "mean",
        noise: "servers",
        ...writesIn(settings),
        limit: settings.limit,
        sigma,
      }),
      sigmasOf: ({ sigma }) => [sigma],
      exposure: ({ limit = 1 }) => sumUpTo(limit),
    },
  },
  plan: meanPlanning,
  answers: {
    outputs: ["average"],
    output: () => "average",
    labels: () => [],
    answer: ({ event, limit = 0 }, stream) => [Math.min(countOf(stream, event), limit)],
  },
  words: {
    question: "How many events does a device have on average?",
    unit: "",
    decimals: 3,
    figure: "the mean",
    emptyFigure: "the mean",
    sigmaUnit: "in units of the limit",
    heading: "metric",
    events: "every event is counted",
    chart: { isShared: false, title: () => "events of a device, mean" },
  },
};
