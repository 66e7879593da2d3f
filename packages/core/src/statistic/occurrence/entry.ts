import { COUNT } from "../../privacy/index.ts";
import type { StatisticEntry } from "../entry.ts";
import { countOf } from "../stream.ts";
import { writesIn } from "../writes.ts";
import { elgamalOccurrence } from "./elgamal.ts";
import { occurrenceInTasks } from "./fields.ts";
import { ledgerStatistic } from "./ledger.ts";
import { occurrencePlanning } from "./plan.ts";
import { twoServerOccurrence } from "./two-server.ts";

/**
 * On how many devices did it happen at least once? Start reading at `occurrence.ts`. `automaton.ts` is the paper's
 * algorithm, which `elgamal.ts` runs, `ledger.ts` that of all metrics in one lattice ciphertext, `two-server.ts` that
 * on shared bits.
 */
export const occurrence: StatisticEntry<"occurrence"> = {
  task: occurrenceInTasks,
  run: {
    oneServer: { lattice: ledgerStatistic, elgamal: elgamalOccurrence },
    specOf: (settings, { localEpsilon }) => ({
      statistic: "occurrence",
      ...writesIn(settings),
      localEpsilons: new Array<number>(settings.metrics ?? 1).fill(localEpsilon),
    }),
    twoServers: {
      create: twoServerOccurrence,
      noise: ["device", "servers"],
      serverNoiseSpecOf: (settings, sigma) => ({
        statistic: "occurrence",
        noise: "servers",
        ...writesIn(settings),
        sigmas: new Array<number>(settings.metrics ?? 1).fill(sigma),
      }),
      sigmasOf: ({ sigmas }) => sigmas,
      exposure: () => COUNT,
    },
  },
  plan: occurrencePlanning,
  answers: {
    outputs: ["count"],
    output: () => "count",
    labels: () => [],
    answer: ({ event }, stream) => [Math.min(countOf(stream, event), 1)],
  },
  words: {
    question: "On how many devices did it happen?",
    unit: "devices",
    decimals: 0,
    figure: "a count",
    emptyFigure: "a count",
    sigmaUnit: "in devices",
    heading: "metric",
    events: "one event counts as many do",
    chart: { isShared: true, title: () => "devices on which it happened" },
  },
};
