import { type FinishedWindow, toCsv } from "@lethe/analyst";
import type { Figure, Release } from "@lethe/core/message";
import { describe, expect, it, vi } from "vitest";
import { describeOutcome, describeState } from "./text.ts";
import { describeTrend } from "./trend.ts";
import { createStatusLine } from "./wait.ts";

const figure = (estimate: number, standardError: number): Figure => ({
  estimate,
  standardError,
  interval: [estimate - 1.96 * standardError, estimate + 1.96 * standardError],
  consistent: Math.max(0, estimate),
});
const OUTCOME = { task: "t", version: 2, window: 7, from: 70, to: 80, enrolled: 1300, received: 1200 };
const RELEASE: Release = {
  status: "released",
  ...OUTCOME,
  at: 90,
  refused: { "rate-limited": 12, "wrong-size": 1 },
  invalid: { estimate: -3, standardError: 28.28, epsilon: 0.1 },
  metrics: [
    {
      name: "crashed",
      statistic: "occurrence",
      mechanism: "randomized-response",
      localEpsilon: 1,
      epsilon: 0.125,
      delta: 1e-6,
      bound: "exact",
      ...figure(300, 20),
    },
  ],
  privacy: {
    local: { sum: 1.5, epsilon: 1, delta: 1e-6 },
    hijackedEpsilon: 0.4,
    honest: 1000,
    aggregate: { epsilon: 0.225, delta: 1e-6, bound: "upper" },
  },
};

describe("a release in words", () => {
  it("has every guarantee beside the one it stands on, and what was refused", () => {
    expect(describeOutcome(RELEASE, 60, "one-server").split("\n")).toEqual([
      "t version 2, window 7: 1970-01-01 00:01:10 to 1970-01-01 00:01:20 UTC, released 1970-01-01 00:01:30",
      "",
      "metric   statistic   estimate  ± s.e.  95% interval  consistent  local ε₀     aggregate ε",
      "crashed  occurrence       300      20    [261, 339]         300         1  0.125 (δ 1e-6)",
      "",
      "a device pays for this window  ε      δ",
      "to the server: local           1      1e-6  all metrics, or 1.5 with δ 0",
      "in releases: aggregate         0.225  1e-6  upper bound, invalid count included, if at least 1,000 reports are honest",
      "in releases: hijacked report   0.4    1e-6  of a state that an intruder captured and sent as a report, if at least 1,000 reports are honest",
      "",
      "1,200 of 1,300 enrolled devices reported; refused requests: rate-limited 12, wrong-size 1",
      "found invalid when opened: -3 ± 28.28, with noise (ε 0.1)",
      "",
      "devices on which it happened",
      "crashed │███████████████████████████████├────●────┤",
      "        └┬───────────┬───────────┬───────────┬───────────┬",
      "         0          100         200         300         400",
    ]);
  });

  it("has the quantiles of histograms, from which bucket to which", () => {
    const { estimate, standardError, interval, consistent, ...guarantee } = RELEASE.metrics[0] as Figure &
      Extract<Release["metrics"][number], Figure>;
    const buckets = ["0", "1–4", "5+"].map((bucket) => ({ bucket, ...figure(400, 30) }));
    const quantiles = [
      { q: 0.5, bucket: "1–4", low: "0", high: "1–4" },
      { q: 0.99, bucket: "5+", low: "5+", high: "5+" },
    ];
    const histogram = { ...guarantee, name: "clicks", statistic: "histogram", buckets, quantiles } as const;
    expect(describeOutcome({ ...RELEASE, metrics: [histogram] }, 60, "one-server")).toContain(
      [
        "",
        "quantiles of devices  q     bucket  95%, all of a metric at once",
        "clicks                0.5   1–4     0 to 1–4",
        "clicks                0.99  5+      5+",
        "",
      ].join("\n"),
    );
  });

  it("says what it stands on with two servers, and that too few devices hide no hijacked report", () => {
    const privacy = { ...RELEASE.privacy, honest: 1, hijackedEpsilon: null };
    const text = describeOutcome({ ...RELEASE, privacy }, 60, "two-server");
    expect(text).toContain("invalid count included, if at least 1 report is honest, and one of the servers\n");
    expect(text).toMatch(
      /\nin releases: hijacked report +none +1e-6 +a state .* is not hidden: minimumDevices is too small\n/,
    );
  });

  it("has its groups after the total, those that are not released with the reason, and how they differ", () => {
    const [crashed] = RELEASE.metrics as [Extract<Release["metrics"][number], Figure>];
    const difference = { estimate: 0.0512, standardError: 0.02, interval: [0.012, 0.0904], pValue: 0.0105 } as const;
    const mean = { ...difference, name: "tabs", statistic: "mean", pValue: 1e-9 } as const;
    const text = describeOutcome(
      {
        ...RELEASE,
        devices: 1150,
        groups: [
          { group: "stable", status: "released", enrolled: 800, received: 750, metrics: [crashed] },
          { group: "canary", status: "not-enough", enrolled: 60, received: 50, missing: 350 },
        ],
        differences: [
          {
            group: "beta",
            minus: "stable",
            metrics: [{ ...difference, name: "crashed", statistic: "occurrence" }, mean],
          },
        ],
      },
      60,
      "one-server",
    );
    expect(text.split("\n").slice(2, 16)).toEqual([
      "all groups that are released: 1,150 devices",
      "metric   statistic   estimate  ± s.e.  95% interval  consistent  local ε₀     aggregate ε",
      "crashed  occurrence       300      20    [261, 339]         300         1  0.125 (δ 1e-6)",
      "",
      "group stable: 750 of 800 enrolled devices reported",
      "metric   statistic   estimate  ± s.e.  95% interval  consistent",
      "crashed  occurrence       300      20    [261, 339]         300",
      "",
      "group canary: 50 of 60 enrolled devices reported; not enough, 350 more: it is in no figure",
      "",
      "beta minus stable, per device",
      "metric   statistic   difference   ± s.e.    95% interval         p",
      "crashed  occurrence     5.12 pp  2.00 pp    [1.20, 9.04]    0.0105",
      "tabs     mean             0.051    0.020  [0.012, 0.090]  < 0.0001",
    ]);
    expect(text).toContain("invalid count included, if at least 1,000 reports in its group are honest\n");
  });

  it("that is withheld says how many were missing", () => {
    const { received, ...outcome } = OUTCOME;
    expect(
      describeOutcome(
        { status: "not-enough", missing: 1500, ...outcome, received: 500, at: 90, refused: {} },
        60,
        "one-server",
      ).split("\n"),
    ).toEqual([
      "t version 2, window 7: 1970-01-01 00:01:10 to 1970-01-01 00:01:20 UTC",
      "not enough, 1,500 more: nothing is released, and the reports are erased",
      "500 of 1,300 enrolled devices reported; refused requests: none",
    ]);
  });

  it("that is withheld in every group says what each had", () => {
    const group = { status: "not-enough", enrolled: 300, received: 250, missing: 50 } as const;
    const { received, ...outcome } = OUTCOME;
    const withheld = { status: "not-enough", missing: 50, ...outcome, received: 500, at: 90, refused: {} } as const;
    const groups = ["stable", "beta"].map((name) => ({ group: name, ...group }));
    expect(
      describeOutcome({ ...withheld, groups }, 60, "one-server")
        .split("\n")
        .slice(1),
    ).toEqual([
      "not enough, 50 more in a group: nothing is released, and the reports are erased",
      "500 of 1,300 enrolled devices reported; refused requests: none",
      "stable: 250 reports, 50 more needed",
      "beta: 250 reports, 50 more needed",
    ]);
  });

  it("that is not there yet says how far its window is", () => {
    const status = { ...OUTCOME, closes: 100, minimumDevices: 2000, refused: {} };
    const reports = "1,200 reports so far, at least 2,000 needed";
    const states = (["not-open", "open", "grace", "closed"] as const).map((state) =>
      describeState({ ...status, state }),
    );
    const at = (text: string): unknown => expect.stringMatching(new RegExp(`^window 7 of t ${text}$`));
    expect(states).toEqual([
      at("begins 1970-01-01 00:01:10 UTC.*"),
      at(`runs until 1970-01-01 00:01:20 UTC.*; ${reports}; it closes 1970-01-01 00:01:40 UTC.*`),
      at(`is over and waits for late reports; ${reports}; it closes 1970-01-01 00:01:40 UTC.*`),
      at(`is closed and being counted; ${reports}`),
    ]);
  });
});

describe("the trend of a task", () => {
  const { metrics } = RELEASE;
  const at = (window: number) => ({ ...OUTCOME, window, from: 3600 * window, to: 3600 * (window + 1) });
  const windows: FinishedWindow[] = [
    {
      ...RELEASE,
      ...at(5),
      metrics: [{ ...(metrics[0] as (typeof metrics)[number]), name: "older", ...figure(1, 1) }],
    },
    { ...RELEASE, ...at(6) },
    { status: "not-enough", missing: 1500, ...at(7), at: 90, refused: {} },
    { status: "lost", ...at(8), at: 90, refused: {} },
    { status: "not-released", task: "t", window: 9, from: 32_400, to: 36_000 },
    { ...RELEASE, ...at(10), metrics: metrics.map((metric) => ({ ...metric, ...figure(-5, 20) })) },
  ];

  it("is a chart per figure, in which a window without a figure says why and is no zero", () => {
    expect(describeTrend("t", windows, 60).split("\n")).toEqual([
      "t, windows 5 to 10: 1970-01-01 05:00:00 to 1970-01-01 11:00:00 UTC",
      "3 released, 1 with too few devices, 1 lost, 1 not released",
      "",
      "crashed (occurrence)",
      "5 01-01 05:00  │ not asked",
      "6 01-01 06:00  │              ██████████████████├─●──┤",
      "7 01-01 07:00  │ too few devices: 1,500 more needed",
      "8 01-01 08:00  │ lost",
      "9 01-01 09:00  │ not released",
      "10 01-01 10:00 │           ├─●──┤",
      "               └┬─────────────┬────────────┬─────────────┬",
      "              −200            0           200           400",
      "",
      "older (occurrence)",
      ...Array.from({ length: 8 }, () => expect.any(String)),
    ]);
    expect(describeTrend("t", [], 60)).toBe("no window of t is finished yet");
  });

  it("has a chart per group as well, in which a group that is too small is no zero", () => {
    const counts = { enrolled: 9, received: 8 };
    const stable = { group: "stable", status: "released", ...counts, metrics } as const;
    const beta = { group: "beta", status: "not-enough", ...counts, missing: 2 } as const;
    const both = { ...RELEASE, ...at(11), groups: [stable, { ...stable, group: "beta" }] };
    const text = describeTrend("t", [{ ...RELEASE, ...at(10), groups: [stable, beta] }, both], 60);
    const charts = text
      .split("\n\n")
      .slice(1)
      .map((chart) => chart.split("\n").slice(0, 3));
    expect(charts.map(([title]) => title)).toEqual([
      ...["crashed (occurrence)", "crashed (occurrence), group stable", "crashed (occurrence), group beta"],
    ]);
    expect(charts[2]?.slice(1)).toEqual([
      "10 01-01 10:00 │ too few devices: 2 more needed",
      expect.stringMatching(/^11 01-01 11:00 │.*●/),
    ]);
  });

  it("as CSV has rows of all windows, and none of a window without figures has a number", () => {
    const rows = toCsv(windows)
      .split("\r\n")
      .map((row) => row.split(","));
    const header = rows[0] ?? [];
    const column = (name: string): unknown[] => rows.slice(1, -1).map((row) => row[header.indexOf(name)]);
    for (const row of rows.slice(0, -1)) expect(row.length).toBe(header.length);
    expect(column("window")).toEqual(["5", "6", "7", "8", "9", "10"]);
    expect(column("status")).toEqual(["released", "released", "not-enough", "lost", "not-released", "released"]);
    expect(column("estimate")).toEqual(["1", "300", "", "", "", "-5"]);
    expect(column("received")).toEqual(["1200", "1200", "1200", "1200", "", "1200"]);
    expect(column("metric")).toEqual(["older", "crashed", "", "", "", "crashed"]);
  });
});

it("waiting for a release says what keeps it, each time that changes", async () => {
  const pending = {
    status: "pending",
    ...OUTCOME,
    state: "closed",
    closes: 100,
    minimumDevices: 3,
    refused: {},
  } as const;
  const hindrances = ["the helper does not answer", undefined];
  const written: unknown[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((line) => written.push(line) > 0);
  const show = createStatusLine(async () => hindrances.shift());
  for (const each of [pending, pending, undefined]) await show(each);
  vi.restoreAllMocks();
  const counted = "window 7 of t is closed and being counted; 1,200 reports so far, at least 3 needed";
  expect(written).toEqual([`${counted}; the helper does not answer\n`, `${counted}\n`]);
});

describe("a release as CSV", () => {
  it("has a row for each figure, ends lines as RFC 4180 says, and quotes what needs it", () => {
    const buckets = [
      { bucket: "0", ...figure(1, 1) },
      { bucket: 'a "b", c', ...figure(2, 1) },
    ];
    const { estimate, standardError, interval, consistent, ...guarantee } = RELEASE.metrics[0] as Figure &
      Extract<Release["metrics"][number], Figure>;
    const quantiles = [
      { q: 0.5, bucket: "0", low: "0", high: "0" },
      { q: 0.9, bucket: "0", low: "0", high: 'a "b", c' },
    ];
    const histogram = { ...guarantee, statistic: "histogram", buckets, quantiles } as const;
    expect(toCsv([{ ...RELEASE, metrics: [...RELEASE.metrics, histogram] }]).split("\r\n")).toEqual([
      "task,version,window,from,to,received,metric,statistic,bucket,estimate,standard_error,interval_low,interval_high,consistent,local_epsilon,local_delta,aggregate_epsilon,aggregate_delta,quantiles,quantiles_low,quantiles_high,group,minus,p_value,status",
      "t,2,7,1970-01-01T00:01:10Z,1970-01-01T00:01:20Z,1200,crashed,occurrence,,300,20,260.8,339.2,300,1,0,0.125,0.000001,,,,,,,released",
      "t,2,7,1970-01-01T00:01:10Z,1970-01-01T00:01:20Z,1200,crashed,histogram,0,1,1,-0.96,2.96,1,1,0,0.125,0.000001,0.5 0.9,0.5 0.9,0.5,,,,released",
      't,2,7,1970-01-01T00:01:10Z,1970-01-01T00:01:20Z,1200,crashed,histogram,"a ""b"", c",2,1,0.040000000000000036,3.96,2,1,0,0.125,0.000001,,,0.9,,,,released',
      "",
    ]);
  });
});
