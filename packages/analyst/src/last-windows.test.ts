import { describe, expect, it } from "vitest";
import { fakeService } from "../test/fake-service.ts";
import { lastWindows } from "./last-windows.ts";

const told = (window: number, status = "released") => ({
  ...{ status, task: "t", window },
  ...{ from: 100 * window, to: 100 * (window + 1) },
});
const page = (...windows: ReturnType<typeof told>[]): string => JSON.stringify({ releases: windows });

/** "7 released". */
async function found(url: string, count: number): Promise<string[]> {
  return (await lastWindows(url, "t", count)).map(({ window, status }) => `${window} ${status}`);
}

describe("the last windows", () => {
  it("are in order, oldest first, with those that were never released in their places", async () => {
    const { url } = await fakeService({
      "/v1/tasks/t/releases?limit=6": page(told(30), told(29, "lost"), told(26, "not-enough"), told(25), told(7)),
    });
    expect(await found(url, 6)).toEqual([
      ...["25 released", "26 not-enough", "27 not-released", "28 not-released", "29 lost", "30 released"],
    ]);
    const [, , gap] = await lastWindows(url, "t", 6);
    expect(gap).toEqual({ status: "not-released", task: "t", window: 27, from: 2700, to: 2800 });
  });

  it("are fewer in a young task, and none before anything is published", async () => {
    const { url } = await fakeService({ "/v1/tasks/t/releases?limit=30": page(told(8), told(7)) });
    expect(await found(url, 30)).toEqual(["7 released", "8 released"]);
    const empty = await fakeService({ "/v1/tasks/t/releases?limit=30": page() });
    expect(await found(empty.url, 30)).toEqual([]);
  });

  it("are fetched in pages of at most 100, and no further than needed", async () => {
    const windows = Array.from({ length: 100 }, (_, i) => told(500 - i));
    const { url, asked } = await fakeService({
      "/v1/tasks/t/releases?limit=100": page(...windows),
      "/v1/tasks/t/releases?limit=20&before=401": page(...windows.slice(0, 20).map(({ window }) => told(window - 100))),
    });
    const all = await found(url, 120);
    expect([all.length, all[0], all.at(-1)]).toEqual([120, "381 released", "500 released"]);
    expect(asked.filter((path) => path.includes("releases")).length).toBe(2);
  });

  it("of a service that keeps its results private need the token, on every page", async () => {
    const windows = Array.from({ length: 100 }, (_, i) => told(500 - i));
    const pages = {
      "/v1/tasks/t/releases?limit=100": page(...windows),
      "/v1/tasks/t/releases?limit=1&before=401": page(told(400)),
    };
    const { url } = await fakeService(pages, "0123456789abcdef");
    expect((await lastWindows(url, "t", 101, { token: "0123456789abcdef" })).length).toBe(101);
    await expect(lastWindows(url, "t", 101)).rejects.toMatchObject({ code: "unauthorized" });
  });

  it("of a task that is not there are its refusal", async () => {
    const { url } = await fakeService({});
    await expect(lastWindows(url, "t", 3)).rejects.toMatchObject({ code: "unknown-task" });
  });
});
