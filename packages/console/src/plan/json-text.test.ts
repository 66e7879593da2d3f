import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rangeOf, withoutEntry, withValue } from "./json-text.ts";

const TEXT = `{
  "task" : "a \\"b\\" {[,:]}",
    "ticks":288,
  "metrics": [
    { "name": "x", "localEpsilon": 1.50 },
    {"name":"y","sigma":2}
  ]
}
`;

describe("a value in a JSON text", () => {
  it("is changed, and nothing else", () => {
    expect(withValue(TEXT, ["ticks"], "12")).toBe(TEXT.replace("288", "12"));
    expect(withValue(TEXT, ["metrics", 0, "localEpsilon"], "0.3")).toBe(TEXT.replace("1.50", "0.3"));
    expect(withValue(TEXT, ["metrics", 1, "sigma"], "7")).toBe(TEXT.replace(`"sigma":2`, `"sigma":7`));
  });

  it("that was not there is written as its neighbour is", () => {
    expect(withValue(TEXT, ["missing"], "0.2", "ticks")).toBe(TEXT.replace("288,", `288,\n    "missing":0.2,`));
    expect(withValue(TEXT, ["missing"], "0.2", "task")).toBe(TEXT.replace(`",\n`, `",\n  "missing" : 0.2,\n`));
    expect(withValue(TEXT, ["metrics", 1, "event"], `"e"`)).toBe(TEXT.replace(`"sigma":2`, `"sigma":2, "event":"e"`));
    expect(withValue(TEXT, ["metrics", 2], "{}")).toBe(TEXT.replace(`"sigma":2}`, `"sigma":2},\n    {}`));
    expect(withValue("{}", ["ticks"], "1")).toBe(`{"ticks": 1}`);
    expect(withValue(`{"a":[]}`, ["a", 0], "1")).toBe(`{"a":[1]}`);
  });

  it("is removed with one comma", () => {
    expect(withoutEntry(TEXT, ["metrics", 0])).toBe(TEXT.replace(/\{ "name": "x".*\n {4}/, ""));
    expect(withoutEntry(TEXT, ["metrics", 1])).toBe(TEXT.replace(/,\n {4}\{"name":"y".*/, ""));
    expect(withoutEntry(`[ 1 ]`, [0])).toBe("[  ]");
    expect(withoutEntry(TEXT, ["metrics", 5])).toBe(TEXT);
  });

  it("is the last one of those with the same key", () => {
    expect(withValue(`{"a":1,"a":2}`, ["a"], "3")).toBe(`{"a":1,"a":3}`);
  });

  it("has no place in what is not JSON, or where nothing is around it", () => {
    for (const text of ["", "{", `{"a":1,}`, "nonsense", `{"a" 1}`]) {
      expect(rangeOf(text, ["a"])).toBeUndefined();
      expect(withValue(text, ["a"], "2")).toBe(text);
      expect(withoutEntry(text, ["a"])).toBe(text);
    }
    expect(withValue("[1]", ["a", "b"], "2")).toBe("[1]");
    expect(withValue(`{"a":1}`, ["a", "b"], "2")).toBe(`{"a":1}`);
  });

  it("is found in any text, with any space and any escape, and can be replaced there", () => {
    const spaced = fc.tuple(fc.jsonValue(), fc.constantFrom(undefined, 0, 1, 2, "\t", " \n"));
    fc.assert(
      fc.property(spaced, fc.string(), fc.nat(), ([value, space], key, at) => {
        const object = { [key]: value, list: [value, 0, value] };
        const text = JSON.stringify(object, null, space);
        for (const [path, found] of [
          [[key], object[key]],
          [["list", at % 3], object.list[at % 3]],
        ] as const) {
          const range = rangeOf(text, path);
          expect(JSON.parse(text.slice(range?.from, range?.to))).toEqual(JSON.parse(JSON.stringify(found)));
        }
        const changed = JSON.parse(withValue(text, ["list", at % 3], `"new"`));
        expect(changed).toEqual(
          JSON.parse(JSON.stringify({ ...object, list: object.list.with(at % 3, "new" as never) })),
        );
        expect(JSON.parse(withoutEntry(text, ["list", at % 3])).list).toHaveLength(2);
      }),
    );
  });
});
