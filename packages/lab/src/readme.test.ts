import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";

it("the README's example runs as it is printed", async () => {
  const readme = readFileSync(new URL("../../../README.md", import.meta.url), "utf8");
  const example = /```ts\n(.*?)```/s.exec(readme)?.[1];
  const file = fileURLToPath(new URL("../dist/readme-example.ts", import.meta.url));
  writeFileSync(file, example as string);
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  await import(/* @vite-ignore */ file);
  const [estimates] = log.mock.calls[0] as [{ estimate: number; standardError: number }[]];
  log.mockRestore();
  expect(estimates.length).toBe(2);
  for (const { standardError } of estimates) expect(standardError).toBeCloseTo(0.98, 1);
});
