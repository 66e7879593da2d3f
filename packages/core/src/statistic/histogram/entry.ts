import { CATEGORIES } from "../../privacy/index.ts";
import type { StatisticEntry } from "../entry.ts";
import { countOf } from "../stream.ts";
import { writesIn } from "../writes.ts";
import { elgamalHistogram } from "./elgamal.ts";
import { histogramInTasks } from "./fields.ts";
import { bucketName, bucketOf, QUANTILES } from "./histogram.ts";
import { histogramPlanning, histogramSpecOf } from "./plan.ts";
import { rotationHistogram } from "./rotation.ts";
import { twoServerHistogram } from "./two-server.ts";

/**
 * How many devices had how many events? Start reading at `histogram.ts`. `automaton.ts` is the paper's algorithm, which
 * `elgamal.ts` runs, `rotation.ts` that on lattices, `two-server.ts` that on shared bits, whose moves are in
 * `bucket-lines.ts`.
 */
export const histogram: StatisticEntry<"histogram"> = {
  task: histogramInTasks,
  run: {
    oneServer: { lattice: rotationHistogram, elgamal: elgamalHistogram },
    specOf: (settings, { localEpsilon }) => histogramSpecOf(settings, localEpsilon),
    twoServers: {
      create: twoServerHistogram,
      noise: ["device", "servers"],
      serverNoiseSpecOf: (settings, sigma) => ({
        statistic: "histogram",
        noise: "servers",
        ...writesIn(settings),
        edges: settings.edges,
        sigma,
      }),
      sigmasOf: ({ edges, sigma }) => edges.map(() => sigma),
      exposure: () => CATEGORIES,
    },
  },
  plan: histogramPlanning,
  answers: {
    outputs: ["categories"],
    output: () => "categories",
    labels: ({ edges = [] }) => edges.map((_, bucket) => bucketName(edges, bucket)),
    answer: ({ event, edges = [] }, stream) => {
      const own = bucketOf(edges, countOf(stream, event));
      return edges.map((_, bucket) => Number(bucket === own));
    },
    quantiles: QUANTILES,
  },
  words: {
    question: "How many devices had how many events?",
    unit: "devices",
    decimals: 0,
    figure: "a count",
    emptyFigure: "an empty bucket",
    sigmaUnit: "in devices",
    heading: "bucket",
    events: "every event is counted",
    chart: { isShared: false, title: (name) => `${name}: devices by number of events` },
  },
};
