import { seededRandomnessForTests } from "@lethe/core/randomness";
import { describe, expect, it } from "vitest";
import { FEATURES } from "../intrusion/view.ts";
import { bytesFrom } from "../randomness/bytes-from.ts";
import { group } from "./servers.ts";
import { COLLUDERS_DISTINGUISHERS, COLUMNS, type ColludersMeasure, measureColluders, relationsIn } from "./view.ts";

const random = seededRandomnessForTests("relations");
const { combine, count } = relationsIn(group);
const element = (): Uint8Array => group.multiplyBase(group.reduce(bytesFrom(random, 64)));
const sum = (a: Uint8Array, b: Uint8Array): Uint8Array => group.walk(a, b, 2)[1] as Uint8Array;
const one = group.multiplyBase(new Uint8Array(32).fill(1, 0, 1));

describe("relations among what was opened", () => {
  const [a, b, c] = [element(), element(), element()];
  const before = combine([a, b, c]);

  it("are there if a share is kept, moved, added to another or moved by a bit, or if all shares have the same sum", () => {
    const [f, g] = [element(), element()];
    const relations = {
      kept: [a, element(), element()],
      moved: [element(), element(), a],
      added: [sum(a, b), element(), element()],
      "moved by a bit": [element(), sum(c, one), element()],
      "the same sum": [sum(a, f), sum(b, g), group.subtract(group.subtract(c, f), g)],
    };
    for (const [name, after] of Object.entries(relations)) {
      expect(count([before, combine(after)]), name).toBeGreaterThan(0);
    }
  });

  it("are there if a share is no share, but 0 or 1", () => {
    for (const bit of [new Uint8Array(32), one]) expect(count([combine([element(), bit])])).toBeGreaterThan(0);
  });

  it("are not there among shares that were drawn again", () => {
    expect(count([before, combine([element(), element(), element()]), combine([element()])])).toBe(0);
  });
});

it("every number that a colluder looks at has another column", () => {
  const names = COLLUDERS_DISTINGUISHERS.filter((name): name is ColludersMeasure => name !== "classifier");
  const columns = names.map(COLUMNS.columnOf);
  expect(new Set(columns).size).toBe(names.length);
  const into = new Float32Array(1 + COLUMNS.width);
  const [first, second] = [new Uint8Array(64), new Uint8Array(64).fill(1)];
  const view = { before: first, dump: second, stored: [{ bytes: second, at: 1 }], parts: "elements" } as const;
  const opened = { ...view, noise: 7 };
  measureColluders({ sealed: view, opened, relations: 3, answer: 2, received: Uint8Array.of(9) }, into, 1);
  const of = (name: ColludersMeasure): number => into[1 + COLUMNS.columnOf(name)] as number;
  expect([into[0], of("sizes"), of("opened: noise"), of("relations"), of("answer")]).toEqual([0, 64, 7, 3, 2]);
  expect(of("opened: equal parts")).toBe(2);
  expect(into[1 + 2 * FEATURES + 2]).toBe(9);
});
