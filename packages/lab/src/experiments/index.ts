/**
 * The experiments behind `lethe lab` and docs/lab: each tests one claim, and turns its figures into a page. An
 * experiment is a file here (what is claimed, at which size it runs, what its figures mean); what it runs is in the
 * folder of its subject: `arrivals`, `attacks`, `baseline`, `collusion`, `fhe`, `intrusion`, `pke`, `utility`. This folder
 * may import all of those, `plot`, `simulate` and `randomness`; nothing imports it but the command line. Start with `experiment.ts`.
 */
import type { Experiment } from "./experiment.ts";

export type { Experiment, Finding, Surroundings, Table } from "./experiment.ts";
export { renderContents, renderPage } from "./page.ts";

/** An experiment that is not loaded yet. */
interface Entry {
  readonly title: string;
  /** Loads the code, which for some experiments takes seconds. */
  readonly load: () => Promise<Experiment>;
}

/** All experiments by name, in the order in which a newcomer would ask. */
export const EXPERIMENTS: ReadonlyMap<string, Entry> = new Map<string, Entry>([
  [
    "lower-bound",
    {
      title: "Why counting without cryptography cannot keep up",
      load: async () => (await import("./lower-bound.ts")).lowerBound,
    },
  ],
  [
    "total-variation",
    {
      title: "How little one event moves a counter of noisy bits",
      load: async () => (await import("./total-variation.ts")).totalVariation,
    },
  ],
  ["utility", { title: "Errors are what theory says", load: async () => (await import("./utility.ts")).utility }],
  [
    "intrusion",
    {
      title: "An intruder who opens a device learns nothing",
      load: async () => (await import("./intrusion.ts")).intrusion,
    },
  ],
  [
    "collusion",
    {
      title: "An intruder who has the keys of one of two servers learns nothing",
      load: async () => (await import("./collusion.ts")).collusion,
    },
  ],
  [
    "attacks",
    {
      title: "Four attacks, with and without their defence",
      load: async () => (await import("./attacks.ts")).attacks,
    },
  ],
  [
    "pke-from-pan-privacy",
    {
      title: "Public-key encryption out of any pan-private counter",
      load: async () => (await import("./pke-from-pan-privacy.ts")).pkeFromPanPrivacy,
    },
  ],
  [
    "fhe",
    {
      title: "What fully homomorphic encryption would cost",
      load: async () => (await import("./fhe.ts")).fhe,
    },
  ],
  [
    "arrivals",
    {
      title: "When a billion reports arrive",
      load: async () => (await import("./arrivals.ts")).arrivals,
    },
  ],
]);
