import type { RistrettoGroup } from "@lethe/core/encryption";
import type { Columns } from "../intrusion/battery.ts";
import { FEATURES, MEASURES, type Measure, measure, type View } from "../intrusion/view.ts";

/** What an intruder sees of one segment who has the keys of one of two servers and all that this server received. */
export interface ColludersView {
  /** The ciphertexts, as an intruder without keys sees them. */
  readonly sealed: View;
  /** The same versions, opened with the server's keys: group elements one after another, or phases. */
  readonly opened: View;
  /** How many simple relations hold among what was opened. */
  readonly relations: number;
  /** What this server learnt of the answer: 0 if nothing, else one more than its number. */
  readonly answer: number;
  /** What the other server sent about the report. */
  readonly received: Uint8Array;
}

type OpenedMeasure = Exclude<Measure, "sizes" | "times">;
/** Times and sizes of what was opened say nothing beyond those of the ciphertexts. */
const OPENED: readonly OpenedMeasure[] = MEASURES.filter(
  (name): name is OpenedMeasure => name !== "sizes" && name !== "times",
);
type Opened = `opened: ${OpenedMeasure}`;

/** A number that a colluder could look at. */
export type ColludersMeasure = Exclude<Measure, "noise"> | Opened | "relations" | "answer";

const RECEIVED_BYTES = 16;
const OTHERS = ["relations", "answer"] as const;

/** The columns of a sample: all features of the ciphertexts, all of what was opened, then the others. */
export const COLUMNS: Columns<ColludersMeasure> = {
  width: 2 * FEATURES + OTHERS.length + RECEIVED_BYTES,
  columnOf: (name) => {
    const other = (OTHERS as readonly string[]).indexOf(name);
    if (other >= 0) return 2 * FEATURES + other;
    const opened = OPENED.find((each) => name === `opened: ${each}`);
    return opened ? FEATURES + MEASURES.indexOf(opened) : MEASURES.indexOf(name as Measure);
  },
};

/** What a colluder looks at: one number, or all of them through a classifier. */
export type ColludersDistinguisher = ColludersMeasure | "classifier";

/** All of them. */
export const COLLUDERS_DISTINGUISHERS: readonly ColludersDistinguisher[] = [
  ...MEASURES.filter((name): name is Exclude<Measure, "noise"> => name !== "noise"),
  ...OPENED.map((name): Opened => `opened: ${name}`),
  ...OTHERS,
  "classifier",
];

/** Writes all numbers of a view into an array, from `at` on. */
export function measureColluders(view: ColludersView, into: Float32Array, at: number): void {
  measure(view.sealed, into, at);
  measure(view.opened, into, at + FEATURES);
  const others = [view.relations, view.answer, ...view.received.subarray(0, RECEIVED_BYTES)];
  into.set(others, at + 2 * FEATURES);
}

const ELEMENT_BYTES = 32;
const IDENTITY = new Uint8Array(ELEMENT_BYTES);
const SMALL = 5;

/** Finds relations among group elements that were opened. */
export interface Relations {
  /** What follows from the elements of one version: each of them, the sum of any two, the sum of all, and these plus G. */
  combine(elements: readonly Uint8Array[]): ReadonlySet<string>;
  /** How often a combination of one version is also one of another, or a small multiple of G. */
  count(versions: readonly ReadonlySet<string>[]): number;
}

/**
 * Shares that are kept, moved, added up or moved by a bit have relations; shares that are replaced have none, up to a
 * probability of about 2⁻²⁴⁰.
 */
export function relationsIn(group: RistrettoGroup): Relations {
  const sum = (a: Uint8Array, b: Uint8Array): Uint8Array => group.walk(a, b, 2)[1] as Uint8Array;
  const one = group.multiplyBase(new Uint8Array(ELEMENT_BYTES).fill(1, 0, 1));
  const small = new Set(group.walk(IDENTITY, one, SMALL).map(keyOf));
  return {
    combine: (elements) => {
      const pairs = elements.flatMap((a, i) => elements.slice(i + 1).map((b) => sum(a, b)));
      const all = elements.length > 2 ? [elements.reduce(sum)] : [];
      return new Set([...elements, ...pairs, ...all].flatMap((each) => [keyOf(each), keyOf(sum(each, one))]));
    },
    count: (versions) => {
      const seen = new Set(small);
      let found = 0;
      for (const version of versions) {
        for (const key of version) if (seen.has(key)) found++;
        for (const key of version) seen.add(key);
      }
      return found;
    },
  };
}

function keyOf(element: Uint8Array): string {
  return Buffer.from(element.buffer, element.byteOffset, element.length).toString("latin1");
}
