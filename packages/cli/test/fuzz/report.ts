import type { Failure, RunResult } from "./run.ts";

/** What inputs follow from, unless LETHE_FUZZ_SEED says otherwise. */
export const SEED: number = Number(process.env.LETHE_FUZZ_SEED ?? 1);

/** The results of runs, one line for each target. */
export function tableOf(results: readonly RunResult[]): string {
  const rows = results.map(({ target, runs, accepted, seconds, growth }) => [
    target,
    runs.toLocaleString("en"),
    `${Math.round((100 * accepted) / runs)}%`,
    Math.round(runs / seconds).toLocaleString("en"),
    `${Math.round(growth / 1000)}`,
  ]);
  const head = ["target", "inputs", "accepted", "per second", "kB more"];
  const runs = results.reduce((sum, each) => sum + each.runs, 0);
  const seconds = results.reduce((sum, each) => sum + each.seconds, 0);
  const lines = [head, ...rows].map(([name = "", ...cells]) => {
    return [name.padEnd(38), ...cells.map((cell) => cell.padStart(10))].join(" ");
  });
  return [...lines, `${runs.toLocaleString("en")} inputs in ${Math.round(seconds)} s of one core`].join("\n");
}

/** A failure in a line, with the command that repeats it. */
export function commandFor({ target, what, input, from }: Failure): string {
  const test = "packages/cli/src/fuzz.fault.test.ts -t 'mutated inputs'";
  return `${target}: ${what} (${from}). Repeat: LETHE_FUZZ='${target}=${input}' npx vitest run --project faults ${test}`;
}
