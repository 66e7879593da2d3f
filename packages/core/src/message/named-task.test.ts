import { describe, expect, it } from "vitest";
import { LetheError } from "../error.ts";
import { eventsOf, layoutOf, parseTask, statisticsOf, type Task } from "./index.ts";

/** The examples of the statistics that are automata, in a window of 28 days. */
const METRICS = [
  { name: "checkout", statistic: "funnel", steps: ["cart.opened", "checkout.started", "paid"], localEpsilon: 1 },
  { name: "format", statistic: "choice", options: ["pdf", "png", "svg"], keep: "first", localEpsilon: 1 },
  {
    name: "export.days",
    statistic: "active-periods",
    event: "export.used",
    periodTicks: 288,
    edges: [0, 1, 2, 8],
    localEpsilon: 1,
    mechanism: "unary",
  },
  { name: "export.weeks", statistic: "retention", event: "export.used", periods: 4, localEpsilon: 1 },
  {
    name: "paid.format",
    statistic: "joint",
    of: [
      { statistic: "occurrence", event: "paid" },
      { statistic: "choice", options: ["pdf", "png"], keep: "first" },
    ],
    localEpsilon: 1,
  },
  {
    name: "trial",
    statistic: "automaton",
    states: ["idle", "tried", "paid"],
    start: "idle",
    transitions: { idle: { "trial.started": "tried" }, tried: { paid: "paid" } },
    outputs: { idle: "no trial", tried: "tried", paid: "paid" },
    localEpsilon: 1,
  },
  {
    name: "streak",
    statistic: "automaton",
    states: ["none", "today", "kept"],
    start: "none",
    transitions: { none: { "export.used": "today" }, kept: { "export.used": ["today", "today", "kept", "kept"] } },
    outputs: { none: 0, today: 2, kept: 1 },
    periodTicks: 2016,
    ends: { today: "kept", kept: "none" },
    sigma: 2,
  },
] as const;

const TASK = {
  version: 1,
  task: "t",
  tickSeconds: 300,
  ticks: 8064,
  graceSeconds: 0,
  mode: "one-server",
  minimumDevices: 1000,
};

type Metric = (typeof METRICS)[number];
const parse = (metrics: readonly object[], changes: object = {}): Task =>
  parseTask(JSON.stringify({ ...TASK, ...changes, metrics }));
const metricOf = (name: Metric["name"]): Metric => METRICS.find((metric) => metric.name === name) as Metric;

/** Why a metric is refused if these of its fields are changed. */
function refusal(name: Metric["name"], changes: object, ofTask: object = {}): string {
  try {
    parse([{ ...metricOf(name), ...changes }], ofTask);
    return "nothing";
  } catch (error) {
    if (!(error instanceof LetheError)) throw error;
    expect(error.code).toBe("bad-task");
    expect(error.message).toMatch(/^[^\p{C}\p{Zl}\p{Zp}]{1,400}$/u);
    return error.message;
  }
}

describe("a task with statistics that are automata", () => {
  it("is good, and every one of them runs on elgamal by default", () => {
    const task = parse(METRICS);
    expect(task.metrics).toEqual(METRICS.map((metric) => ({ ...metric, scheme: "elgamal" })));
    expect(statisticsOf(task).map(({ spec }) => spec.statistic)).toEqual(METRICS.map(({ statistic }) => statistic));
  });

  it("has the events of all of its metrics, each once", () => {
    expect(eventsOf(parse(METRICS))).toEqual([
      ...["cart.opened", "checkout.started", "paid", "pdf", "png", "svg", "export.used", "trial.started"],
    ]);
    expect(layoutOf(parse(METRICS)).map(({ device }) => device.events)).toEqual(
      METRICS.map((metric) => eventsOf(parse([metric]))),
    );
    const alone = { name: "weekly", statistic: "retention", periods: 2, localEpsilon: 1 };
    expect(eventsOf(parse([alone]))).toEqual(["weekly"]);
  });

  it.each(METRICS.map((metric) => [metric.name, metric.statistic] as const))(
    "%s is refused on lattices and with two servers, in the same words as any statistic: %s",
    (name, statistic) => {
      const refused = `metrics[0] (${name}): ${statistic} runs`;
      expect(refusal(name, { scheme: "lattice" })).toBe(`${refused} on elgamal only, not on lattice`);
      expect(refusal(name, {}, { scheme: "lattice" })).toBe(`${refused} on elgamal only, not on lattice`);
      expect(refusal(name, {}, { mode: "two-server" })).toBe(`${refused} with one server only`);
    },
  );

  it.each(METRICS.map((metric) => [metric.name, metric.statistic] as const))(
    "%s names a field that it does not know, or misses: %s",
    (name, statistic) => {
      const what = `${/^[aeiou]/.test(statistic) ? "an" : "a"} ${statistic} metric`;
      expect(refusal(name, { nonsense: 1 })).toContain(`metrics[0].nonsense is not a field of ${what}`);
      if (name !== "streak") {
        expect(refusal(name, { localEpsilon: undefined })).toBe("metrics[0].localEpsilon is missing");
        expect(refusal(name, { localEpsilon: 0 })).toMatch(/^metrics\[0\]\.\S+ is /);
      }
    },
  );
});

describe("a mistake is named with its place", () => {
  it.each([
    [{ steps: [] }, "metrics[0].steps is a list of 1 to 63 names of events, not of 0"],
    [{ steps: ["a", "B"] }, 'metrics[0].steps[1] is a letter a-z and up to 63 more of a-z, 0-9, . and -, not "B"'],
    [{ steps: ["a", "b", "a"] }, "metrics[0].steps[2] is a, as steps[0] is: each may be there once"],
    [{ steps: ["none"] }, "metrics[0].steps[0] is none, which stands for devices without an event: use another name"],
  ])("of a funnel: %j", (changes, message) => {
    expect(refusal("checkout", changes)).toBe(message);
  });

  it.each([
    [{ keep: "lowest" }, 'metrics[0].keep is one of first, last, highest, not "lowest"'],
    [{ options: ["pdf", "pdf"] }, "metrics[0].options[1] is pdf, as options[0] is: each may be there once"],
    [{ option: ["pdf"] }, "metrics[0].option is not a field of a choice metric; did you mean options?"],
  ])("of a choice: %j", (changes, message) => {
    expect(refusal("format", changes)).toBe(message);
  });

  it.each([
    [{ periodTicks: 8065 }, "metrics[0].periodTicks is a whole number from 1 to 8064, not 8065"],
    [{ periodTicks: 20 }, "metrics[0].periodTicks is at least 21 in a window of 8064 ticks, not 20"],
    [
      { edges: [0, 33], periodTicks: 144 },
      "metrics[0].edges takes 66 states, and a device keeps at most 64: end them earlier, or make periods longer",
    ],
    [
      { edges: Array.from({ length: 65 }, (_, i) => i) },
      "metrics[0].edges makes 65 categories, and at most 64 are counted",
    ],
    [{ edges: [1, 2] }, "metrics[0].edges are whole numbers that begin with 0 and increase, at least two, not [1, 2]"],
  ])("of active-periods: %j", (changes, message) => {
    expect(refusal("export.days", changes)).toBe(message);
  });

  it("of active-periods, a bucket that no window reaches is only empty", () => {
    expect(refusal("export.days", { edges: [0, 1, 100] })).toBe("nothing");
  });

  it.each([
    [{ periods: 5 }, {}, "metrics[0].periods is a whole number from 2 to 4, not 5"],
    [{}, { ticks: 5 }, "metrics[0].periods cannot be 4 in a window of 5 ticks, where periods of 2 are 3"],
  ])("of retention: %j %j", (changes, ofTask, message) => {
    expect(refusal("export.weeks", changes, ofTask)).toBe(message);
  });

  const paid = { statistic: "occurrence", event: "paid" };
  /** Two periods, so few states, and edges that no device reaches. */
  const manyEdges = {
    statistic: "active-periods",
    event: "paid",
    periodTicks: 4032,
    edges: Array.from({ length: 30 }, (_, i) => i),
  };
  it.each([
    [[paid], "metrics[0].of is a list of 2 statistics, not of 1"],
    [[paid, { statistic: "occurrence" }], "metrics[0].of[1].event is missing"],
    [
      [paid, { ...paid, name: "x" }],
      "metrics[0].of[1].name is not a field of a side of a table with statistic occurrence",
    ],
    [
      [paid, { statistic: "mean", event: "x" }],
      "metrics[0].of[1].statistic is one of occurrence, histogram, funnel, choice, active-periods, retention, not" +
        ' "mean"',
    ],
    [
      [paid, { statistic: "choice", options: ["a", "a"] }],
      "metrics[0].of[1].options[1] is a, as options[0] is: each may be there once",
    ],
    [
      [
        { statistic: "retention", event: "paid", periods: 4 },
        { statistic: "funnel", steps: ["a", "b", "c", "d"] },
      ],
      "metrics[0].of takes 80 states, and a device keeps at most 64: its sides have 16 and 5",
    ],
    [
      [paid, { statistic: "choice", options: ["any"] }],
      "metrics[0].of[1] names any, which stands for all: use another name",
    ],
    [
      [paid, { statistic: "occurrence", event: "none" }],
      "metrics[0].of[1].event is none, which stands for devices without an event: use another name",
    ],
    [[manyEdges, manyEdges], "metrics[0].of makes 900 categories, and at most 64 are counted"],
  ])("of a joint: %j", (of, message) => {
    expect(refusal("paid.format", { of })).toBe(message);
  });

  const STATES = "idle, tried, paid";
  it.each([
    [{ states: ["idle", "idle", "paid"] }, 'metrics[0].states[1] is "idle", as states[0] is'],
    [{ start: "paying" }, `metrics[0].start is a state (${STATES}), not "paying"`],
    [
      { transitions: { idle: { "trial.started": "tryed" } } },
      `metrics[0].transitions: state "idle" at event "trial.started" is a state (${STATES}), not "tryed"`,
    ],
    [
      { transitions: { idel: { paid: "paid" } } },
      `metrics[0].transitions has a row for each state: every name in it is a state (${STATES}), not "idel"`,
    ],
    [
      { transitions: { idle: { paid: ["paid", "tried"] } } },
      'metrics[0].transitions: state "idle" at event "paid" has an entry for each of the window\'s 1 periods, not 2',
    ],
    [
      { transitions: { idle: { Paid: "paid" } } },
      'metrics[0].transitions: event "Paid" is a letter a-z and up to 63 more of a-z, 0-9, . and -, not "Paid"',
    ],
    [{ transitions: { idle: {} } }, "metrics[0].transitions has at least one event"],
    [
      { ends: { tried: "idel" } },
      `metrics[0].ends: state "tried" at the end of a period is a state (${STATES}), not "idel"`,
    ],
    [{ ends: [{}, {}] }, "metrics[0].ends has an entry for each of the window's 1 periods, not 2"],
    [{ outputs: { idle: "a", tried: "b" } }, 'metrics[0].outputs has none for state "paid"'],
    [
      { outputs: { idle: "a", tried: "b", paid: 3 } },
      'metrics[0].outputs are all texts, which are categories, or all whole numbers: state "paid" has 3',
    ],
    [
      { outputs: { idle: "a", tried: "a", paid: "a" } },
      'metrics[0].outputs are all "a": the count is known without asking',
    ],
    [
      { outputs: { idle: 0, tried: 1, paid: 2 } },
      "metrics[0].localEpsilon is for outputs that are categories: these need sigma",
    ],
    [{ outputs: { idle: 0, tried: 1, paid: 2 }, localEpsilon: undefined }, "metrics[0].sigma is missing"],
    [
      { localEpsilon: undefined, sigma: 1 },
      "metrics[0].sigma is for outputs that are numbers: these need localEpsilon",
    ],
    [
      { outputs: { idle: 0, tried: 0.5, paid: 2 }, localEpsilon: undefined, sigma: 1 },
      "metrics[0].outputs.tried is a whole number from -100000 to 100000, not 0.5",
    ],
    [
      { outputs: { idle: -1000, tried: 0, paid: 1000 }, localEpsilon: undefined, sigma: 501 },
      "metrics[0].sigma is a number above 0 and at most 500 at this limit, not 501",
    ],
    [
      { transitions: { idle: Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`e${i}`, "paid"])) } },
      "metrics[0].transitions has at most 1000 different events, not 1001",
    ],
    [
      { states: Array.from({ length: 65 }, (_, i) => `s${i}`) },
      "metrics[0].states is a list of 1 to 64 names of states, not of 65",
    ],
  ])("of an automaton: %j", (changes, message) => {
    expect(refusal("trial", changes)).toBe(message);
  });
});
