import type { Experiment } from "./experiment.ts";

export type { Experiment, Finding, Surroundings, Table } from "./experiment.ts";
export { renderContents, renderPage } from "./page.ts";

interface Entry {
  readonly title: string;
  /** Only what is run is loaded. */
  readonly load: () => Promise<Experiment>;
}

/** In the order in which somebody new to it would ask. */
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
      title: "Whoever opens a device learns nothing",
      load: async () => (await import("./intrusion.ts")).intrusion,
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
]);
