import { expect, it } from "vitest";
import { secret } from "../encryption/index.ts";
import { seededRandomnessForTests } from "../randomness/index.ts";
import { keyContextOf, type LayoutPart, layoutOf, parseTask } from "./index.ts";

const text = JSON.stringify({
  version: 1,
  task: "editor-health",
  tickSeconds: 60,
  ticks: 3,
  hides: 3,
  graceSeconds: 0,
  mode: "one-server",
  scheme: "lattice",
  minimumDevices: 1,
  metrics: [
    { name: "failed", statistic: "occurrence", localEpsilon: 1 },
    { name: "clicks", statistic: "histogram", edges: [0, 1, 3], localEpsilon: 1, eventsPerTick: 1 },
    { name: "clacks", statistic: "histogram", edges: [0, 1, 3], localEpsilon: 1, eventsPerTick: 1 },
    { name: "tabs", statistic: "mean", limit: 5, sigma: 1, eventsPerTick: 1 },
  ],
});

it("parameters are chosen once for each question: a second layout has the same statistics", () => {
  const [first, second] = [layoutOf(parseTask(text)), layoutOf(parseTask(text))];
  for (const [i, { server }] of first.entries()) {
    expect(second[i]?.server).toBe(server);
  }
  expect(first[2]?.server).toBe(first[1]?.server);
  expect(new Set(first.map(({ server }) => server)).size).toBe(3);
});

it("the same metrics under another scheme, or over another number of ticks, have others", () => {
  const task = parseTask(text);
  const layouts = [task, { ...task, scheme: "elgamal" } as const, { ...task, ticks: 4 }].map((task) => layoutOf(task));
  for (const part of task.metrics.keys()) {
    expect(new Set(layouts.map((layout) => layout[part]?.server)).size).toBe(3);
  }
});

it("a task that is changed afterwards changes no layout but its own", () => {
  const task = { ...parseTask(text), scheme: "elgamal", ticks: 5 } as const; // nobody has asked this yet
  const [, before] = layoutOf(task) as [unknown, LayoutPart];
  (task.metrics[1] as unknown as { edges: number[] }).edges.push(4);
  const [, after] = layoutOf(task) as [unknown, LayoutPart];
  const random = seededRandomnessForTests("layout");
  const context = { task: "editor-health", window: 0, device: new Uint8Array(16), role: "tally" } as const;
  for (const [part, buckets] of [[before, 3] as const, [after, 4] as const]) {
    const publicKey = part.server.issueKey(secret(new Uint8Array(32)), keyContextOf(part, context));
    const recorder = part.device.start(publicKey, random);
    expect(recorder.seal(recorder.write() as Uint8Array)).toHaveLength(buckets * 64);
  }
});
