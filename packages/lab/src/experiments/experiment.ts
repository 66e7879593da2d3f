import type { Randomness } from "@lethe/core/randomness";

/** A claim, and the test that a sceptic would put it to. */
export interface Experiment {
  /** What is claimed, by whom, and how it is tested: a few paragraphs of wrapped Markdown for a newcomer. */
  readonly about: string;
  /** Throws before any work is done if something is missing, such as a package that is not installed. */
  check?(): Promise<void>;
  /** Runs at full size, which takes at most two minutes on two processors. */
  run(surroundings: Surroundings): Promise<Finding>;
}

/** What an experiment gets from its caller. */
export interface Surroundings {
  readonly random: Randomness;
  /** Called with the share that is done, from 0 to 1. */
  readonly progress: (share: number) => void;
}

/** What came out of an experiment. */
export interface Finding {
  /** The figures, for programs. */
  readonly json: object;
  readonly tables: readonly Table[];
  /**
   * What the figures say, and what they do not, in one paragraph of Markdown. It is made from the figures, so it never
   * claims more than they show.
   */
  readonly reading: string;
  readonly svg: string;
}

/** A table of a page, or of a terminal. */
export interface Table {
  /** What it shows, on pages with several tables. */
  readonly caption?: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** How many columns, from the left, hold words instead of figures. */
  readonly words: number;
}
