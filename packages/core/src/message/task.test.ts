import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LetheError } from "../error.ts";
import { STATISTICS } from "../statistic/table.ts";
import { parseTask, statisticsOf } from "./index.ts";
import { twoServerStatisticsOf } from "./two-server-statistics.ts";

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type JsonObject = { [key: string]: Json };

const EXAMPLE = `{"version":1,"task":"editor-health","tickSeconds":300,"ticks":288,"graceSeconds":86400,
 "mode":"one-server","minimumDevices":1000,"metrics":[
 {"name":"export.failed","statistic":"occurrence","localEpsilon":1},
 {"name":"export.clicks","statistic":"histogram","edges":[0,1,2,5],"localEpsilon":1},
 {"name":"tabs.opened","statistic":"mean","limit":10,"sigma":2}]}`;

const occurrence = { name: "export.failed", statistic: "occurrence", localEpsilon: 1 };
const histogram = { name: "export.clicks", statistic: "histogram", edges: [0, 1, 2, 5], localEpsilon: 1 };
const mean = { name: "tabs.opened", statistic: "mean", limit: 10, sigma: 2 };
/** ElGamal, because choosing lattice parameters takes a while. */
const good = {
  version: 1,
  task: "editor-health",
  tickSeconds: 300,
  ticks: 288,
  graceSeconds: 86400,
  mode: "one-server",
  scheme: "elgamal",
  minimumDevices: 1000,
  metrics: [occurrence, histogram, mean],
};

/** Undefined if the task is good; anything but one line of a `bad-task` fails the test. */
function refusal(text: string): string | undefined {
  try {
    parseTask(text);
    return undefined;
  } catch (error) {
    if (!(error instanceof LetheError)) throw error;
    expect(error.code).toBe("bad-task");
    expect(error.message).toMatch(/^[^\p{C}\p{Zl}\p{Zp}]+$/u);
    expect(error.message.length).toBeLessThan(400);
    return error.message;
  }
}

const refusalWith = (changes: object): string | undefined => refusal(JSON.stringify({ ...good, ...changes }));
const refusalOfMetric = (metric: unknown): string | undefined => refusalWith({ metrics: [occurrence, metric] });

describe("a good task", () => {
  it("has the groups that it declares, in their order, and none if it declares none", () => {
    const groups = ["stable", "beta", "arm.b-2"];
    expect(parseTask(JSON.stringify({ ...good, groups })).groups).toEqual(groups);
    expect(parseTask(JSON.stringify(good))).not.toHaveProperty("groups");
  });

  it("has so few groups and metrics that comparing all pairs of groups is no burden", () => {
    const groups = Array.from({ length: 16 }, (_, i) => `g${i}`);
    const metrics = Array.from({ length: 84 }, (_, i) => ({ ...occurrence, name: `m${i}` }));
    expect(refusalWith({ groups, metrics: metrics.slice(1) })).toBeUndefined();
    expect(refusalWith({ groups, metrics })).toBe(
      "groups are too many: each metric is compared for each of 120 pairs of groups, at most 10000 times in all, not 10080",
    );
  });

  it("is read with defaults filled in", () => {
    expect(parseTask(EXAMPLE)).toStrictEqual({
      version: 1,
      task: "editor-health",
      tickSeconds: 300,
      ticks: 288,
      graceSeconds: 86400,
      mode: "one-server",
      minimumDevices: 1000,
      hides: 1000,
      missing: 0,
      metrics: [
        { name: "export.failed", scheme: "lattice", statistic: "occurrence", localEpsilon: 1 },
        { name: "export.clicks", scheme: "elgamal", statistic: "histogram", edges: [0, 1, 2, 5], localEpsilon: 1 },
        { name: "tabs.opened", scheme: "elgamal", statistic: "mean", limit: 10, sigma: 2 },
      ],
    });
  });

  it("keeps the scheme that it names for all metrics, or that a metric names", () => {
    const rotated = [occurrence, { ...histogram, eventsPerTick: 2 }];
    const lattice = parseTask(JSON.stringify({ ...good, scheme: "lattice", hides: 10, metrics: rotated }));
    expect(lattice).toMatchObject({ scheme: "lattice", hides: 10, metrics: rotated });
    expect(statisticsOf(lattice).map(({ scheme }) => scheme)).toEqual(["lattice", "lattice"]);
    const { scheme: _, ...unnamed } = good;
    const own = [{ ...occurrence, scheme: "elgamal" }, { ...occurrence, name: "b" }, histogram];
    const mixed = parseTask(JSON.stringify({ ...unnamed, metrics: own }));
    expect(statisticsOf(mixed).map(({ scheme, metrics }) => [scheme, ...metrics])).toEqual([
      ["lattice", "b"],
      ["elgamal", "export.failed"],
      ["elgamal", "export.clicks"],
    ]);
  });

  it("has no limit on events with ElGamal, whatever it says; on lattices it must say how many", () => {
    expect(parseTask(JSON.stringify({ ...good, metrics: [{ ...mean, eventsPerTick: 3 }] })).metrics).toEqual([mean]);
    expect(refusalOfMetric({ ...mean, eventsPerTick: 0 })).toBe(
      "metrics[1].eventsPerTick is a whole number from 1 to 100000, not 0",
    );
    expect(refusalWith({ scheme: "lattice", metrics: [mean] })).toMatch(
      /^metrics\[0\]\.eventsPerTick is required with the lattice scheme: it is how many events between two writes/,
    );
  });

  it("is told the most hides that fit", () => {
    const metrics = [{ ...histogram, eventsPerTick: 1 }];
    expect(refusalWith({ scheme: "lattice", ticks: 24, metrics })).toMatch(/hides 781 is the most that fits$/);
    expect(refusalWith({ scheme: "lattice", ticks: 24, hides: 781, metrics })).toBeUndefined();
    expect(refusalWith({ scheme: "lattice", ticks: 900, metrics })).toMatch(/not even hides 0 fits$/);
  });

  it("is read the same after it was written out", () => {
    const task = parseTask(JSON.stringify({ ...good, metrics: [{ ...histogram, mechanism: "unary" }, mean] }));
    expect(parseTask(JSON.stringify(task))).toStrictEqual(task);
  });

  it("may use every value at either end of its range", () => {
    const least = { version: 1, task: "a", tickSeconds: 1, ticks: 1, graceSeconds: 0, minimumDevices: 1 };
    const most = {
      version: Number.MAX_SAFE_INTEGER,
      task: `a${"-".repeat(63)}`,
      tickSeconds: 31 * 86400,
      ticks: 100_000,
      graceSeconds: 366 * 86400,
      minimumDevices: 1e9,
    };
    for (const ends of [least, most]) expect(refusalWith(ends)).toBeUndefined();
    for (const localEpsilon of [1e-6, 20]) expect(refusalOfMetric({ ...histogram, localEpsilon })).toBeUndefined();
  });

  it("may have ten thousand metrics that ask the same", () => {
    const metrics = Array.from({ length: 10_000 }, (_, i) => ({ ...histogram, eventsPerTick: 1, name: `m${i}` }));
    expect(refusalWith({ scheme: "lattice", hides: 0, metrics })).toBeUndefined();
    expect(refusalWith({ metrics: [...metrics, mean] })).toBe("metrics is a list of 1 to 10000 metrics, not of 10001");
  });
});

describe("the statistics of a task", () => {
  it("are one for all occurrence metrics, then one for every other metric, in order", () => {
    const late = { name: "late", event: "failed.late", statistic: "occurrence", localEpsilon: 2 };
    const unary = { ...histogram, event: "export.done", mechanism: "unary", eventsPerTick: 3 };
    const task = parseTask(JSON.stringify({ ...good, metrics: [mean, occurrence, unary, late] }));
    expect(statisticsOf(task)).toStrictEqual([
      {
        scheme: "elgamal",
        spec: {
          statistic: "occurrence",
          ticks: 288,
          hides: 1000,
          events: ["export.failed", "failed.late"],
          localEpsilons: [1, 2],
        },
        metrics: ["export.failed", "late"],
      },
      {
        scheme: "elgamal",
        spec: { event: "tabs.opened", statistic: "mean", limit: 10, sigma: 2, ticks: 288, hides: 1000 },
        metrics: ["tabs.opened"],
      },
      {
        scheme: "elgamal",
        spec: {
          event: "export.done",
          statistic: "histogram",
          edges: [0, 1, 2, 5],
          localEpsilon: 1,
          mechanism: "unary",
          ticks: 288,
          hides: 1000,
        },
        metrics: ["export.clicks"],
      },
    ]);
  });

  it("hold no occurrence without such a metric", () => {
    const task = parseTask(JSON.stringify({ ...good, metrics: [mean] }));
    expect(statisticsOf(task).map(({ metrics }) => metrics)).toEqual([["tabs.opened"]]);
  });
});

describe("a bad task is refused with a line that begins with the field", () => {
  it("for a field of the task", () => {
    const { ticks, ...withoutTicks } = good;
    expect(refusal(JSON.stringify(withoutTicks))).toBe("ticks is missing");
    for (const [field, value, message] of [
      ["version", 0, "version is a whole number from 1 to 9007199254740991, not 0"],
      ["version", 1e300, "version is a whole number from 1 to 9007199254740991, not 1e+300"],
      ["version", "1", 'version is a number, not "1"'],
      ["task", "Editor", 'task is a letter a-z and up to 63 more of a-z, 0-9, . and -, not "Editor"'],
      ["task", "a\n", 'task is a letter a-z and up to 63 more of a-z, 0-9, . and -, not "a\\n"'],
      ["task", 7, "task is a letter a-z and up to 63 more of a-z, 0-9, . and -, not 7"],
      ["tickSeconds", 2_678_401, "tickSeconds is a whole number from 1 to 2678400, not 2678401"],
      ["ticks", 0, "ticks is a whole number from 1 to 100000, not 0"],
      ["ticks", 1.5, "ticks is a whole number from 1 to 100000, not 1.5"],
      ["ticks", null, "ticks is a number, not null"],
      ["graceSeconds", -1, "graceSeconds is a whole number from 0 to 31622400, not -1"],
      ["mode", "no-server", 'mode is one of one-server, two-server, not "no-server"'],
      ["scheme", "constructor", 'scheme is one of lattice, elgamal, not "constructor"'],
      ["minimumDevices", 1e9 + 1, "minimumDevices is a whole number from 1 to 1000000000, not 1000000001"],
      ["minimumDevices", [1], "minimumDevices is a number, not a list"],
      ["metrics", {}, "metrics is a list of 1 to 10000 metrics, not an object"],
      ["metrics", [], "metrics is a list of 1 to 10000 metrics, not of 0"],
      ["groups", "beta", 'groups is a list of 2 to 16 groups, not "beta"'],
      ["groups", ["beta"], "groups is a list of 2 to 16 groups, not of 1"],
      ["groups", ["a", "B"], 'groups[1] is a letter a-z and up to 63 more of a-z, 0-9, . and -, not "B"'],
      ["groups", ["a", "b", "a"], 'groups[2] is unique, but "a" is there twice'],
      ["tickSecond", 1, "tickSecond is not a field of a task; did you mean tickSeconds?"],
      ["tick", 1, "tick is not a field of a task; did you mean ticks?"],
      ["colour", 1, "colour is not a field of a task"],
      ["constructor", 1, "constructor is not a field of a task"],
      ["tick seconds", 1, '["tick seconds"] is not a field of a task; did you mean tickSeconds?'],
      ["", 1, '[""] is not a field of a task'],
    ] as const) {
      expect(refusalWith({ [field]: value })).toBe(message);
    }
  });

  it("for a field of a metric", () => {
    for (const [metric, message] of [
      [null, "metrics[1] is an object, not null"],
      [[], "metrics[1] is an object, not a list"],
      ["clicks", 'metrics[1] is an object, not "clicks"'],
      [{}, "metrics[1].statistic is missing"],
      [{ statistc: "mean" }, "metrics[1].statistc is not a field of a metric; did you mean statistic?"],
      [{ ...mean, statistic: "median" }, `metrics[1].statistic is one of ${STATISTICS.join(", ")}, not "median"`],
      [{ ...mean, statistic: "toString" }, `metrics[1].statistic is one of ${STATISTICS.join(", ")}, not "toString"`],
      [{ statistic: "mean", limit: 10, sigma: 2 }, "metrics[1].name is missing"],
      [occurrence, 'metrics[1].name is unique, but metrics[0] is named "export.failed" too'],
      [
        { name: "late", statistic: "occurrence", localEpsilonn: 1 },
        "metrics[1].localEpsilonn is not a field of an occurrence metric; did you mean localEpsilon?",
      ],
      [{ ...mean, "local-epsilon": 1 }, 'metrics[1]["local-epsilon"] is not a field of a mean metric'],
      [
        { ...histogram, sigma: 1 },
        'metrics[1].sigma is not a field of a histogram metric: it is with "noise":"servers", of two servers',
      ],
      [{ ...histogram, localEpsilon: 50 }, "metrics[1].localEpsilon is a number from 0.000001 to 20, not 50"],
      [{ ...occurrence, localEpsilon: 0 }, "metrics[1].localEpsilon is a number from 0.000001 to 20, not 0"],
      [{ ...histogram, localEpsilon: "1" }, 'metrics[1].localEpsilon is a number, not "1"'],
      [
        { ...histogram, edges: [0, 5, 2] },
        "metrics[1].edges are whole numbers that begin with 0 and increase, at least two, not [0, 5, 2]",
      ],
      [
        { ...histogram, edges: [] },
        "metrics[1].edges are whole numbers that begin with 0 and increase, at least two, not []",
      ],
      [
        { ...histogram, quantiles: [0.5, 1] },
        "metrics[1].quantiles are numbers above 0 and below 1 that increase, not [0.5, 1]",
      ],
      [
        { ...histogram, quantiles: [0.9, 0.5] },
        "metrics[1].quantiles are numbers above 0 and below 1 that increase, not [0.9, 0.5]",
      ],
      [{ ...histogram, quantiles: [] }, "metrics[1].quantiles is a list of 1 to 99 numbers, not of 0"],
      [{ ...histogram, edges: "0,1" }, 'metrics[1].edges is a list of numbers, not "0,1"'],
      [{ ...histogram, edges: [0, "\u001b[31m"] }, 'metrics[1].edges[1] is a number, not "\\u001b[31m"'],
      [
        { ...histogram, scheme: "lattice" },
        "metrics[1].scheme is elgamal as the task's scheme is: leave one of them out, not lattice",
      ],
      [{ ...histogram, eventsPerTick: 0 }, "metrics[1].eventsPerTick is a whole number from 1 to 100000, not 0"],
      [{ ...histogram, mechanism: "laplace" }, 'metrics[1].mechanism is one of kary, unary, per-bucket, not "laplace"'],
      [{ ...mean, limit: 0 }, "metrics[1].limit is a whole number from 1 to 100000, not 0"],
      [{ ...mean, sigma: -1 }, "metrics[1].sigma is a number above 0 and at most 100000 at this limit, not -1"],
      [{ ...mean, sigma: "2" }, 'metrics[1].sigma is a number, not "2"'],
    ] as const) {
      expect(refusalOfMetric(metric === occurrence ? metric : renamed(metric))).toBe(message);
    }
  });

  /** So that a name that is there twice is not what is refused. */
  function renamed(metric: unknown): unknown {
    const isNamed = typeof metric === "object" && metric !== null && "name" in metric;
    return isNamed ? { ...metric, name: "other" } : metric;
  }

  it("for numbers that JSON can write and doubles cannot hold", () => {
    const text = JSON.stringify(good);
    expect(refusal(text.replace('"ticks":288', '"ticks":1e999'))).toMatch(/^ticks is a whole .* not Infinity$/);
    expect(refusal(text.replace('"sigma":2', '"sigma":1e999'))).toMatch(/^metrics\[2]\.sigma is .* not Infinity$/);
    expect(refusal(text.replace("[0,1,2,5]", "[0,1e999]"))).toMatch(/^metrics\[1]\.edges are .* not \[0, Infinity]$/);
  });

  it("for keys that reach for a prototype", () => {
    const text = JSON.stringify(good);
    expect(refusal(text.replace("{", '{"__proto__":{"ticks":1},'))).toBe("__proto__ is not a field of a task");
    expect(refusal(text.replace('[{"', '[{"__proto__":{},"'))).toBe(
      "metrics[0].__proto__ is not a field of an occurrence metric",
    );
    const inherited = `{"__proto__":${text}}`;
    expect(refusal(inherited)).toBe("__proto__ is not a field of a task");
  });

  it("for anything that is no object", () => {
    for (const [text, what] of [
      ["null", "null"],
      ["[]", "a list"],
      ["1", "1"],
      ['"task"', '"task"'],
    ] as const) {
      expect(refusal(text)).toBe(`task is an object, not ${what}`);
    }
  });

  it("for a task whose fields are fine and which cannot run, naming the metric", () => {
    const lattice = { scheme: "lattice", ticks: 3000 };
    const rotated = [occurrence, ...[mean, histogram].map((metric) => ({ ...metric, eventsPerTick: 1 }))];
    expect(refusalWith({ ...lattice, metrics: rotated })).toMatch(
      /^metrics\[1] \(tabs\.opened\): a mean over 3000 ticks .* lower ticks, hides or eventsPerTick; not even hides 0 fits$/,
    );
    const wide = [1e-6, 20, 1].map((localEpsilon, i) => ({ name: `m${i}`, statistic: "occurrence", localEpsilon }));
    expect(refusalWith({ scheme: "lattice", metrics: wide })).toMatch(/^metrics\[0] \(m0\) and 2 more: no ledger/);
    expect(refusalWith({ metrics: [{ ...mean, limit: 100_000, sigma: 1 }] })).toMatch(
      /^metrics\[0] \(tabs\.opened\): elgamal .* use the lattice scheme/,
    );
  });

  it("with long values cut short and control characters escaped", () => {
    const long = refusalWith({ task: `${"\u0007\u009b\u202e\u2028😀".repeat(20_000)}` });
    expect(long).toMatch(/^task is a letter .*, not "\\u0007\\u\{9b\}\\u\{202e\}\\u\{2028\}😀.*…$/u);
    expect(refusalWith({ ["x".repeat(1e6)]: 1 })).toMatch(/^\["x+…\] is not a field of a task$/);
    const edges = Array.from({ length: 10_000 }, (_, i) => 2 * i + 1);
    expect(refusalOfMetric({ ...histogram, edges })).toMatch(/^metrics\[1]\.edges are .*, not \[1, 3, [\d, ]{1,60}…$/);
  });

  it("for values nested deeper than any stack", () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    expect(refusal(deep)).toBe("task is an object, not a list");
    expect(refusal(JSON.stringify(good).replace("288", deep))).toBe("ticks is a number, not a list");
  });
});

describe("a text that is not JSON", () => {
  it("is refused with the place of the mistake", () => {
    for (const [text, message] of [
      ["", "it ends too early, at line 1, column 1"],
      ['{"version": 1,\n "ticks": 2', "it ends too early, at line 2, column 12"],
      ['{"version": 1,\n}', 'unexpected "}" at line 2, column 1'],
      ['{"a":[1,2,]}', 'unexpected "]" at line 1, column 11'],
      ["{version: 1}", 'unexpected "version" at line 1, column 2'],
      ['{s":1}', 'unexpected "s\\"" at line 1, column 2'],
      ["[w]", 'unexpected "w" at line 1, column 2'],
      ['{"a": NaN}', 'unexpected "NaN" at line 1, column 7'],
      ['{"a": 01}', 'unexpected "1" at line 1, column 8'],
      ['{"a" 1}', 'unexpected "1" at line 1, column 6'],
      ['{"a": "b\n"}', 'unexpected "\\"b" at line 1, column 7'],
      ['{"a": "b}', 'unexpected "\\"b" at line 1, column 7'],
      ["{} {}", 'unexpected "{" at line 1, column 4'],
      ["[1}", 'unexpected "}" at line 1, column 3'],
      ["\ufeff{}", 'unexpected "\\u{feff}" at line 1, column 1'],
      ["\u0000", 'unexpected "\\u0000" at line 1, column 1'],
      ["😀", 'unexpected "😀" at line 1, column 1'],
    ] as const) {
      expect(refusal(text)).toBe(`task is not JSON: ${message}`);
    }
  });

  it("is cut JSON at its end, and JSON with a foreign character at that character", () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (json, at) => {
        const text = `[${json}]`;
        const cut = text.slice(0, 1 + (at % (text.length - 1)));
        expect(refusal(cut)).toMatch(/^task is not JSON: (it ends too early|unexpected "(\\"|[-tfn.eE]))/);
        expect(refusal(`${text}\n;`)).toBe('task is not JSON: unexpected ";" at line 2, column 1');
      }),
    );
  });

  it("of a megabyte is refused as well", () => {
    for (const text of ["[".repeat(1e6), `"${"a".repeat(1e6)}`, `"${"\\n".repeat(5e5)}`, "1".repeat(1e6).concat("x")]) {
      expect(refusal(text)).toMatch(/^task is not JSON: /);
    }
  });
});

describe("whatever the text, parseTask returns or throws one line of bad-task", () => {
  it("for arbitrary text and arbitrary JSON", () => {
    fc.assert(fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.json()), (text) => void refusal(text)));
  });

  const value = fc.oneof(
    fc.constantFrom<Json>(null, true, 0, -1, 1e300, 0.5, "", "1", "occurrence", "mean", [], {}, [0, 1], [null]),
    fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
    fc.double().map((number) => (Number.isFinite(number) ? number : 0)),
  );
  const names = ["ticks", "statistic", "sigma", "edges", "mechanism", "eventsPerTick", "metrics", "toString"];
  const mutation = fc.record({
    /** The task, or one of its metrics. */
    where: fc.integer({ min: -1, max: 2 }),
    what: fc.constantFrom("delete", "add", "change"),
    field: fc.nat(),
    added: fc.oneof(fc.constantFrom(...names), fc.string({ unit: "binary" })),
    value,
  });
  type Mutation = typeof mutation extends fc.Arbitrary<infer M> ? M : never;

  function mutate(task: { [key: string]: Json; metrics: JsonObject[] }, change: Mutation): void {
    const target = change.where < 0 ? task : task.metrics[change.where];
    if (target === undefined || target === null || typeof target !== "object") return;
    const fields = Object.keys(target);
    const field = fields[change.field % fields.length] ?? "version";
    if (change.what === "delete") delete target[field];
    else {
      const key = change.what === "add" ? change.added : field;
      Object.defineProperty(target, key, { value: change.value, enumerable: true, configurable: true, writable: true });
    }
  }

  for (const [scheme, runs] of [
    ["elgamal", 2000],
    ["lattice", 200],
  ] as const) {
    it(`for good ${scheme} tasks with up to three fields deleted, added or changed`, () => {
      fc.assert(
        fc.property(fc.array(mutation, { minLength: 1, maxLength: 3 }), (mutations) => {
          const task = structuredClone({ ...good, scheme }) as unknown as { metrics: JsonObject[] };
          for (const change of mutations) if (Array.isArray(task.metrics)) mutate(task, change);
          refusal(JSON.stringify(task));
        }),
        { numRuns: runs },
      );
    });
  }
});

describe("a task of two servers", () => {
  const counted = { name: "opened", statistic: "occurrence", noise: "servers", sigma: 4 };
  const buckets = { name: "clicks", statistic: "histogram", noise: "servers", edges: [0, 1, 5], sigma: 6 };
  const two = { ...good, mode: "two-server", metrics: [occurrence, counted, histogram, buckets, mean] };
  const refusalOfTwo = (changes: object): string | undefined => refusal(JSON.stringify({ ...two, ...changes }));

  it("has metrics whose noise is the devices' and others whose noise is the servers'", () => {
    const task = parseTask(JSON.stringify(two));
    expect(task.metrics[1]).toEqual(counted);
    expect(task.metrics[3]).toEqual(buckets);
    expect(twoServerStatisticsOf(task)).toStrictEqual([
      {
        metrics: ["export.failed"],
        spec: {
          statistic: "occurrence",
          noise: "device",
          ticks: 288,
          hides: 1000,
          events: ["export.failed"],
          localEpsilons: [1],
        },
      },
      {
        metrics: ["opened"],
        spec: { statistic: "occurrence", noise: "servers", ticks: 288, hides: 1000, events: ["opened"], sigmas: [4] },
      },
      {
        metrics: ["export.clicks"],
        spec: {
          event: "export.clicks",
          statistic: "histogram",
          noise: "device",
          ticks: 288,
          hides: 1000,
          edges: [0, 1, 2, 5],
          localEpsilon: 1,
        },
      },
      {
        metrics: ["clicks"],
        spec: {
          event: "clicks",
          statistic: "histogram",
          noise: "servers",
          ticks: 288,
          hides: 1000,
          edges: [0, 1, 5],
          sigma: 6,
        },
      },
      {
        metrics: ["tabs.opened"],
        spec: {
          event: "tabs.opened",
          statistic: "mean",
          noise: "servers",
          ticks: 288,
          hides: 1000,
          limit: 10,
          sigma: 2,
        },
      },
    ]);
  });

  it("is the same text after its defaults were written out, whether it names its scheme or not", () => {
    const { scheme: _, ...unnamed } = two;
    expect(JSON.stringify(parseTask(JSON.stringify(unnamed)))).toBe(JSON.stringify(parseTask(JSON.stringify(two))));
  });

  it("may name any mechanism for any buckets", () => {
    for (const mechanism of ["kary", "unary", "per-bucket"]) {
      expect(refusalOfTwo({ metrics: [{ ...histogram, mechanism }] })).toBeUndefined();
    }
  });

  it("is refused with the field to blame", () => {
    expect(refusalOfTwo({ scheme: "lattice" })).toBe("scheme is elgamal with two servers, not lattice");
    expect(refusalOfTwo({ metrics: [{ ...counted, sigma: 0 }] })).toMatch(/^metrics\[0\]\.sigma is a number above 0/);
    expect(refusalOfTwo({ metrics: [{ ...counted, localEpsilon: 1 }] })).toBe(
      "metrics[0].localEpsilon is not a field of a metric with noise of the servers",
    );
    expect(refusalOfTwo({ metrics: [{ ...counted, noise: "device" }] })).toBe(
      'metrics[0].noise is servers, not "device"',
    );
    expect(refusalOfTwo({ metrics: [{ ...mean, noise: "servers" }] })).toBe(
      "metrics[0].noise is not a field of a mean metric",
    );
    expect(refusalOfTwo({ mode: "one-server" })).toBe(
      "metrics[1].noise is for mode two-server: one server adds no noise",
    );
  });
});
