import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { aggregateEpsilon, localEpsilonFor } from "@lethe/core/privacy";
import { expect, it, vi } from "vitest";

it("the example of docs/library.md runs as it is printed", async () => {
  const page = readFileSync(new URL("../../../../docs/library.md", import.meta.url), "utf8");
  const example = /```ts\n(.*?)```/s.exec(page)?.[1];
  const file = fileURLToPath(new URL("../../dist/library-example.ts", import.meta.url));
  writeFileSync(file, example as string);
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  await import(/* @vite-ignore */ file);
  const [estimates] = log.mock.calls[0] as [{ estimate: number; standardError: number }[]];
  log.mockRestore();
  expect(estimates.length).toBe(2);
  for (const { standardError } of estimates) expect(standardError).toBeCloseTo(0.98, 1);
});

it("the table of docs/privacy.md is what the library says", () => {
  const text = readFileSync(new URL("../../../../docs/privacy.md", import.meta.url), "utf8");
  const rows = [...text.matchAll(/^\| ([\d,]+) \|((?: [\d.]+ \|){5})$/gm)];
  expect(rows.length).toBe(5);
  for (const [, devices = "", figures = ""] of rows) {
    const n = Number(devices.replaceAll(",", ""));
    const [a, b, c, d, aggregate] = figures.split("|").map(Number);
    const found = [0.1, 0.5, 1, 2].map((epsilon) => Number(localEpsilonFor(n, epsilon, 1e-6).toFixed(3)));
    expect(found).toEqual([a, b, c, d]);
    expect(Number(aggregateEpsilon(n, 1, 1e-6).epsilon.toPrecision(3))).toBe(aggregate);
  }
});
