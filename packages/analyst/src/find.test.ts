import type { WindowState, WindowStatus } from "@lethe/core/message";
import { describe, expect, it } from "vitest";
import { fakeService } from "../test/fake-service.ts";
import { findRelease, waitUntilFinished } from "./find.ts";
import { fetchRelease, fetchReleases, fetchWindow } from "./service.ts";
import { newestInGrace, nextToFinish, unfinishedWindows } from "./window.ts";

const NOW = 1000;
/** Window 10 runs from 1000 to 1100, and reports of window 9 are accepted until 1050. */
const MANIFEST = { task: "t", ticks: 10, tickSeconds: 10, graceSeconds: 50, fromWindow: 9 } as Parameters<
  typeof nextToFinish
>[1];

function statusOf(window: number, state: WindowState): WindowStatus {
  const from = 100 * window;
  const times = { from, to: from + 100, closes: from + 150 };
  return { task: "t", version: 1, window, state, ...times, enrolled: 0, received: 0, minimumDevices: 1, refused: {} };
}

const windows = (states: Readonly<Record<number, WindowState>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(states).map(([window, state]) => [
      `/v1/tasks/t/windows/${window}`,
      JSON.stringify(statusOf(Number(window), state)),
    ]),
  );
const withheld = (window: number) => ({ status: "not-enough", task: "t", window, missing: 3 });

describe("finding windows", () => {
  it("the next to finish is the oldest that is not finished", async () => {
    const { url } = await fakeService(windows({ 9: "grace", 10: "open", 11: "not-open" }));
    expect(await nextToFinish(url, MANIFEST, NOW)).toMatchObject({ window: 9, state: "grace" });
    const later = await fakeService(windows({ 9: "released", 10: "open" }));
    expect(await nextToFinish(later.url, MANIFEST, NOW)).toMatchObject({ window: 10 });
    const last = await fakeService(windows({ 9: "released", 10: "not-enough", 11: "not-open" }));
    expect(await nextToFinish(last.url, MANIFEST, NOW)).toMatchObject({ window: 11 });
  });

  it("a closed window is unfinished only as long as its release may come", async () => {
    const known = windows({ 9: "closed", 10: "open" });
    const coming = await fakeService({ ...known, "/v1/tasks/t/releases/9": () => undefined });
    expect(await nextToFinish(coming.url, MANIFEST, NOW)).toMatchObject({ window: 9 });
  });

  it("the newest in grace, or none", async () => {
    const { url } = await fakeService(windows({ 9: "grace", 10: "open" }));
    expect(await newestInGrace(url, MANIFEST, NOW)).toBe(9);
    expect(await newestInGrace(url, MANIFEST, NOW + 60)).toBeUndefined();
    const none = await fakeService(windows({ 10: "open" }));
    expect(await newestInGrace(none.url, MANIFEST, NOW)).toBeUndefined();
  });

  it("the unfinished ones, newest first", async () => {
    const { url } = await fakeService(windows({ 7: "released", 8: "grace", 9: "grace", 10: "open", 11: "not-open" }));
    const found = await unfinishedWindows(url, MANIFEST, NOW);
    expect(found.map(({ window }) => window)).toEqual([11, 10, 9, 8]);
  });

  it("the unfinished ones of a service that keeps its results private need the token", async () => {
    const reader = { token: "0123456789abcdef" };
    const paths = { ...windows({ 8: "closed", 9: "grace", 10: "open" }), "/v1/tasks/t/releases/8": () => undefined };
    const { url } = await fakeService(paths, reader.token);
    const found = await unfinishedWindows(url, MANIFEST, NOW, reader);
    expect(found.map(({ window }) => window)).toEqual([10, 9, 8]);
    await expect(unfinishedWindows(url, MANIFEST, NOW)).rejects.toMatchObject({ code: "unauthorized" });
    expect(await fetchWindow(url, "t", 9, reader)).toMatchObject({ state: "grace" });
    await expect(fetchWindow(url, "t", 9)).rejects.toMatchObject({ code: "unauthorized" });
  });
});

describe("finding releases", () => {
  it("the newest with figures, beside the newer ones without", async () => {
    const released = { status: "released", task: "t", window: 6 };
    const { url } = await fakeService({
      "/v1/tasks/t/releases?limit=1": JSON.stringify({ releases: [withheld(8)] }),
      "/v1/tasks/t/releases?limit=10&before=8": JSON.stringify({ releases: [withheld(7), released, withheld(5)] }),
    });
    const { outcome, newer } = await findRelease(url, "t");
    expect(outcome).toEqual(released);
    expect(newer.map(({ window }) => window)).toEqual([8, 7]);
  });

  it("the newest without figures if no window has any", async () => {
    const { url } = await fakeService({
      "/v1/tasks/t/releases?limit=1": JSON.stringify({ releases: [withheld(8)] }),
      "/v1/tasks/t/releases?limit=10&before=8": JSON.stringify({ releases: [withheld(7)] }),
    });
    expect(await findRelease(url, "t")).toMatchObject({ outcome: { window: 8 }, newer: [] });
  });

  it("by number: the state of a window that is not finished", async () => {
    const { url } = await fakeService({ ...windows({ 9: "grace" }), "/v1/tasks/t/releases/9": () => undefined });
    expect(await findRelease(url, "t", { window: 9 })).toMatchObject({
      outcome: { status: "pending", state: "grace" },
    });
  });

  it("waits until a window is finished, and shows its states meanwhile", async () => {
    const looks = [
      { status: "pending", ...statusOf(9, "grace"), closes: 0 },
      { status: "pending", ...statusOf(9, "closed") },
      { ...withheld(9) },
    ] as Awaited<ReturnType<Parameters<typeof waitUntilFinished>[0]>>[];
    const seen: (string | undefined)[] = [];
    const found = await waitUntilFinished(
      async () => looks.shift() as (typeof looks)[number],
      (pending) => void seen.push(pending?.state),
    );
    expect(found).toMatchObject({ status: "not-enough" });
    expect(seen).toEqual(["grace", "closed", undefined]);
  });
});

describe("an answer that is no release is a bad answer", () => {
  it.each([
    "{}",
    '{"releases":null}',
    '{"releases":{}}',
    '{"releases":[null]}',
    '{"releases":[{"status":"toString"}]}',
  ])("a list: %s", async (body) => {
    const { url } = await fakeService({ "/v1/tasks/t/releases?limit=3": body });
    await expect(fetchReleases(url, "t", { limit: 3 })).rejects.toMatchObject({ code: "bad-answer" });
  });

  it.each([
    ...[
      "{}",
      "[]",
      '{"status":"odd"}',
      '{"status":"__proto__"}',
      '{"status":"lost","from":1e13}',
      '{"status":"lost","to":{"toString":1}}',
    ],
    `{"status":"shared","document":"","signature":${"[".repeat(20_000)}${"]".repeat(20_000)}}`,
  ])("one: %.60s", async (body) => {
    const { url } = await fakeService({ "/v1/tasks/t/releases/5": body });
    await expect(fetchRelease(url, "t", 5)).rejects.toMatchObject({ code: "bad-answer" });
  });
});
