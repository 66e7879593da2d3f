import { type DemoResult, runDemo } from "@lethe/lab/demo";
import type { Command } from "commander";
import { createProgress } from "./progress.ts";
import { formatFigure, formatTable } from "./table.ts";

export function addDemo(program: Command): void {
  program
    .command("demo")
    .description("count on five hundred simulated devices, and compare what happened with what the server learns")
    .option("--once", "end when the figures are there (as it does so far without it, too)")
    .option("--json", "print JSON only")
    .action((options: { json?: boolean }) => {
      const result = runDemo(createProgress("500 devices, three statistics"));
      console.log(options.json ? JSON.stringify(result) : describe(result));
    });
}

function describe({ devices, received, metrics, localEpsilon, seconds }: DemoResult): string {
  const rows = metrics.map(({ name, statistic, bucket, truth, estimate, interval: [low, high] }) => {
    const figure = (value: number): string => formatFigure(value, statistic);
    const label = bucket === undefined ? name : `${name} ${bucket}`;
    return [label, statistic, figure(truth), figure(estimate), `[${figure(low)}, ${figure(high)}]`];
  });
  const costs = Object.entries(localEpsilon).map(([name, epsilon]) => `${name} ${epsilon.toPrecision(3)}`);
  return [
    formatTable(["metric", "statistic", "truth", "estimate", "95% interval"], rows, 2),
    "",
    `${received} of ${devices} devices reported, ${seconds.toFixed(1)} s. Each counted only inside ciphertexts, rewritten in each of 24`,
    `ticks, event or not. What its answers cost a device, local ε: ${costs.join(", ")} (the mean at δ = 1e-6).`,
  ].join("\n");
}
