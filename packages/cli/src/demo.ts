import { type DemoResult, runDemo } from "@lethe/lab/demo";
import type { Command } from "commander";
import { createProgress } from "./progress.ts";
import { formatFigure, formatTable } from "./table.ts";

export function addDemo(program: Command): void {
  program
    .command("demo")
    .description("count on five hundred simulated devices, and compare what happened with what the server learns")
    .option("--once", "end when the figures are there")
    .option("--json", "print JSON only")
    .action((options: { json?: boolean }) => {
      const result = runDemo(createProgress("500 devices, three statistics"));
      console.log(options.json ? JSON.stringify(result) : describe(result));
    });
}

function describe({ devices, received, metrics, seconds }: DemoResult): string {
  const rows = metrics.map(({ name, statistic, bucket, truth, estimate, interval: [low, high] }) => {
    const figure = (value: number): string => formatFigure(value, statistic);
    const label = bucket === undefined ? name : `${name} ${bucket}`;
    return [label, statistic, figure(truth), figure(estimate), `[${figure(low)}, ${figure(high)}]`];
  });
  return [
    formatTable(["metric", "statistic", "truth", "estimate", "95% interval"], rows, 2),
    "",
    `${received} of ${devices} devices reported, ${seconds.toFixed(1)} s. Each counted only inside ciphertexts, rewritten in each of 24`,
    "ticks, event or not; local ε is 1 for the first two metrics, and the third has noise of σ = 2 limits.",
  ].join("\n");
}
