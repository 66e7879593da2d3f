import type { Randomness } from "@lethe/core/randomness";

/** A claim, and how whoever doubts it puts it to the test. */
export interface Experiment {
  /** What is claimed, by whom, and how it is tested: a few paragraphs of Markdown for a reader who is new to it. */
  readonly about: string;
  /** Throws if something is missing that it needs, before any work is done. */
  check?(): Promise<void>;
  /** At its full size, which takes two minutes at most on two processors. */
  run(surroundings: Surroundings): Promise<Finding>;
}

export interface Surroundings {
  readonly random: Randomness;
  readonly progress: (share: number) => void;
}

export interface Finding {
  /** For programs. */
  readonly json: object;
  readonly tables: readonly Table[];
  /** What the figures say, and what they do not, in one paragraph; made from the figures, so that it is never stronger than they are. */
  readonly reading: string;
  readonly svg: string;
}

export interface Table {
  /** What is in it, if there are several. */
  readonly caption?: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** How many columns, from the left, hold words and not figures. */
  readonly words: number;
}
