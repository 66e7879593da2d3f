import type { Operations, WindowStatus } from "@lethe/core/message";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  consequencesOf,
  countsOf,
  isOld,
  nextOf,
  OLD_MILLISECONDS,
  reasonsOf,
  refusedIn,
  serviceTime,
  stripOf,
  stripText,
  totalsOf,
} from "./live.ts";

beforeAll(() => {
  vi.stubGlobal("navigator", { language: "en-US" });
});
afterAll(() => {
  vi.unstubAllGlobals();
});

function windowOf(window: number, changed: Partial<WindowStatus> = {}): WindowStatus {
  return {
    ...{ task: "t", version: 1, window, state: "open", from: 100 * window, to: 100 * window + 100 },
    ...{ closes: 100 * window + 150, enrolled: 5, received: 2, minimumDevices: 3, refused: {} },
    ...changed,
  };
}

function operationsOf(...windows: readonly (readonly WindowStatus[])[]): Operations {
  return {
    ...{ now: 1000, role: "all", version: "0.1.0", ready: true, clockInDoubt: false },
    tasks: windows.map((each, i) => ({
      ...{ task: `task-${i}`, version: 1, windowSeconds: 100, windows: each },
      nextRelease: each[0] ? { window: each[0].window, at: each[0].closes } : null,
    })),
  };
}

describe("a view of a service", () => {
  it("adds up the windows of all tasks that are not finished", () => {
    const unfinished = (["not-open", "open", "grace", "closed"] as const).map((state, i) =>
      windowOf(i, { state, refused: { "unknown-device": 1, "window-closed": 2 } }),
    );
    const finished = (["released", "not-enough", "lost"] as const).map((state, i) =>
      windowOf(i, { state, refused: { "unknown-device": 100 } }),
    );
    expect(totalsOf(operationsOf([...unfinished, ...finished], [windowOf(9)]))).toEqual({
      ...{ enrolled: 25, received: 10, refused: 12 },
    });
  });

  it("names the next release of all tasks", () => {
    expect(nextOf(operationsOf([windowOf(7)], [windowOf(3)], []))).toEqual({ task: "task-1", window: 3, at: 450 });
    expect(nextOf(operationsOf())).toBeUndefined();
  });

  it("has the time of the service, which goes on between two readings and never back", () => {
    const read = { operations: operationsOf(), at: 50_000 };
    expect([50_000, 53_500, 40_000].map((now) => serviceTime(read, now))).toEqual([1000, 1003.5, 1000]);
  });

  it("is old if a request failed, or if none was answered for long", () => {
    const read = { operations: operationsOf(), at: 50_000 };
    expect(isOld(read, undefined, 50_000 + OLD_MILLISECONDS)).toBe(false);
    expect(isOld(read, undefined, 50_001 + OLD_MILLISECONDS)).toBe(true);
    expect(isOld(read, new Error("no"), 50_000)).toBe(true);
  });
});

describe("refusals", () => {
  it("are sorted by how many there are, then by name", () => {
    const windows = [{ refused: { b: 1, a: 1 } }, { refused: { c: 1, b: 2 } }, { refused: {} }];
    expect(reasonsOf(windows)).toEqual(["b", "a", "c"]);
    expect(windows.map(refusedIn)).toEqual([2, 3, 0]);
  });
});

describe("the picture of a task", () => {
  it("has its windows from the oldest to the newest, with gaps where some are not listed", () => {
    const [task] = operationsOf([
      windowOf(12, { state: "not-open" }),
      windowOf(11),
      windowOf(4, { state: "closed" }),
    ]).tasks;
    if (!task) throw new TypeError("there is no task");
    const cells = stripOf(task, 1125);
    expect(cells).toEqual([
      { window: 4, state: "closed", passed: 1, isAfterGap: false },
      { window: 11, state: "open", passed: 0.25, isAfterGap: true },
      { window: 12, state: "not-open", passed: 0, isAfterGap: false },
    ]);
    expect(stripText(cells)).toBe("1 not begun, 1 running, 1 being counted");
    expect(countsOf([...cells, ...cells]).map(({ windows }) => windows)).toEqual([2, 2, 2]);
  });
});

describe("closing a window", () => {
  it("says what becomes of its devices and of its release", () => {
    expect(consequencesOf(windowOf(1)).slice(0, 3)).toEqual([
      "The window is still running: devices that report at its end are refused, and what they counted is lost.",
      "2 of 5 enrolled devices have reported so far.",
      "That is too few: 1 more are needed, and without them nothing of this window is released.",
    ]);
    const enough = consequencesOf(windowOf(1, { state: "grace", received: 3 }));
    expect(enough[0]).toContain("have not sent their reports yet");
    expect(enough[2]).toBe("The release follows as soon as all of them are counted.");
    // How many reports each group has is published with the release only.
    expect(consequencesOf(windowOf(1, { groups: ["a", "b"] }))[2]).toBe(
      "A group with fewer than 3 reports is in no figure.",
    );
  });
});
