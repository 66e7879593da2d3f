import { type DemoResult, runDemo } from "@lethe/lab/demo";
import type { Command } from "commander";

export function addDemo(program: Command): void {
  program
    .command("demo")
    .description("keep, rewrite and open a small ledger, and show sizes and times")
    .option("--once", "end when the figures are there")
    .option("--json", "print JSON only")
    .action((options: { json?: boolean }) => {
      if (!options.json) process.stderr.write("A device counts for a day of ticks …\n");
      const result = runDemo();
      console.log(options.json ? JSON.stringify(result) : describe(result));
    });
}

function describe({ counters, writes, bytes, microseconds, changedBytes, seconds }: DemoResult): string {
  const rows = counters.map(({ name, truth, opened }) => {
    return `  ${name.padEnd(16)}${String(truth).padStart(6)}${String(opened).padStart(8)}`;
  });
  return [
    "  counter          truth  opened",
    ...rows,
    "",
    `The device wrote its ${bytes.state}-byte state ${writes} times; on average ${(100 * changedBytes).toFixed(1)}% of its bytes`,
    `changed from one write to the next, event or not. The report has ${bytes.report} bytes, the public key ${bytes.publicKey}.`,
    `A write took ${microseconds.write.toFixed(0)} µs, sealing ${microseconds.seal.toFixed(0)} µs, opening ${microseconds.open.toFixed(0)} µs; all of it ${seconds.toFixed(2)} s.`,
  ].join("\n");
}
