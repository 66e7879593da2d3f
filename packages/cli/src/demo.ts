import type { Demo, DemoResult } from "@lethe/lab/demo";
import type { Command } from "commander";
import { createProgress } from "./progress.ts";
import { stopSignal } from "./stop-signal.ts";
import { formatFigure, formatTable } from "./table.ts";

export function addDemo(program: Command): void {
  program
    .command("demo")
    .description("a service and a few hundred devices over HTTP: what happened beside what the service learns")
    .option("--once", "end after the first window; else window follows window until Ctrl-C")
    .option("--json", "print JSON only, one object a window")
    .action(async ({ once, json }: { once?: boolean; json?: boolean }) => {
      // Here, as the service takes as long to load as all the rest of every command.
      const { openDemo } = await import("@lethe/lab/demo");
      const demo = await openDemo();
      try {
        if (!json) console.log(`service: ${demo.url} (OpenAPI: ${demo.url}/openapi.json)\n`);
        await Promise.race([runWindows(demo, once ? 1 : Number.POSITIVE_INFINITY, json ?? false), stopSignal()]);
      } finally {
        await demo.close();
      }
    });
}

async function runWindows(demo: Demo, windows: number, json: boolean): Promise<void> {
  for (let window = 0; window < windows; window++) {
    const result = await demo.runWindow(createProgress(`${demo.devices} devices, ${demo.ticks} ticks`));
    console.log(json ? JSON.stringify(result) : describe(result, demo));
  }
}

function describe(result: DemoResult, { url, ticks }: Demo): string {
  const { devices, window, received, metrics, localEpsilon, seconds } = result;
  const rows = metrics.map(({ name, statistic, bucket, truth, estimate, interval: [low, high] }) => {
    const figure = (value: number): string => formatFigure(value, statistic);
    const label = bucket === undefined ? name : `${name} ${bucket}`;
    return [label, statistic, figure(truth), figure(estimate), `[${figure(low)}, ${figure(high)}]`];
  });
  const costs = Object.entries(localEpsilon).map(([name, epsilon]) => `${name} ${epsilon.toPrecision(3)}`);
  return [
    formatTable(["metric", "statistic", "truth", "estimate", "95% interval"], rows, 2),
    "",
    `${received} of ${devices} devices reported in window ${window}, ${seconds.toFixed(1)} s. Each counted only inside ciphertexts, rewritten in each of ${ticks}`,
    `ticks, event or not. What its answers cost a device, local ε: ${costs.join(", ")} (the mean at δ = 1e-6).`,
    `The release: ${url}/v1/tasks/editor-health/releases/${window}`,
    "",
  ].join("\n");
}
