import { expect, it } from "vitest";
import { inThreads } from "./in-threads.ts";

/** A thread that does this with each job. */
function threadThat(body: string): URL {
  const code = `import { parentPort } from "node:worker_threads"; parentPort.on("message", (job) => { ${body} });`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}

it("every job is performed, and its result is known by its number", async () => {
  const results = new Map<number, number>();
  const double = threadThat("parentPort.postMessage({ result: 2 * job })");
  await inThreads<number, number>(double, [1, 2, 3], (result, i) => results.set(i, result));
  expect([...results].sort()).toEqual([
    [0, 2],
    [1, 4],
    [2, 6],
  ]);
});

it("a thread that fails, or leaves without a word, ends it", async () => {
  const perform = (body: string): Promise<void> => inThreads(threadThat(body), [1], () => {});
  await expect(perform('parentPort.postMessage({ error: "no" })')).rejects.toThrow("no");
  await expect(perform('throw new Error("broken")')).rejects.toThrow("broken");
  await expect(perform("process.exit(0)")).rejects.toThrow("a thread ended with code 0 before its job was done");
});
