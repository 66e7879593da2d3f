import { describe, expect, it } from "vitest";
import { isProblemCode, PROBLEMS, type ProblemCode, problemOf } from "./index.ts";

const codes = Object.keys(PROBLEMS) as ProblemCode[];

describe("refusals of a service", () => {
  it("have the statuses that docs/wire-format.md lists", () => {
    expect(Object.fromEntries(codes.map((code) => [code, PROBLEMS[code].status]))).toStrictEqual({
      "bad-encoding": 400,
      unauthorized: 401,
      "unknown-task": 404,
      "unknown-device": 404,
      "report-differs": 409,
      "window-closed": 410,
      "wrong-size": 413,
      "wrong-type": 415,
      "bad-task": 422,
      "window-not-open": 425,
      "rate-limited": 429,
      "no-keys-left": 503,
    });
  });

  it("are problem details with a type of their own, and say the same everywhere", () => {
    expect(problemOf("bad-task", "ticks is missing")).toStrictEqual({
      type: "urn:lethe:problem:bad-task",
      title: "The task cannot be run",
      status: 422,
      code: "bad-task",
      detail: "ticks is missing",
    });
    for (const code of codes) {
      const { type, title, status, detail } = problemOf(code, "detail");
      expect({ type, detail }).toStrictEqual({ type: `urn:lethe:problem:${code}`, detail: "detail" });
      expect({ title, status }).toStrictEqual(PROBLEMS[code]);
    }
    expect(new Set(codes.map((code) => PROBLEMS[code].title)).size).toBe(codes.length);
  });

  it("are told by their code from errors that stay inside, and from names of an object's own", () => {
    for (const code of codes) expect(isProblemCode(code)).toBe(true);
    const others = ["undecryptable", "bad-signature", "bad-key-file", "bad-data-folder", "", "toString", "__proto__"];
    for (const code of others) expect(isProblemCode(code)).toBe(false);
  });
});
