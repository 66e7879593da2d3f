import { fetchManifest, unless } from "@lethe/analyst";
import { type FleetResult, runFleet } from "@lethe/lab/fleet";
import { createProgress } from "../print/progress.ts";
import { resultsCommand } from "../print/results-command.ts";
import { formatTable } from "../print/table.ts";
import { failure } from "../system/failure.ts";

/** The options of `lethe simulate --server`. */
export interface FleetCommandOptions {
  readonly server: string;
  readonly task: string;
  readonly devices: number;
  readonly rate: number;
  readonly json?: boolean;
}

/** Runs simulated devices that enrol with a service and report to it, and prints what happened on them. */
export async function simulateFleet({ json, ...options }: FleetCommandOptions): Promise<void> {
  const { server, task, devices } = options;
  // Fails with a clear message if there is no such service or task.
  const manifest = await fetchManifest(server, task);
  const progress = createProgress(`${devices} devices`);
  const running = runFleet(options, ({ received }) => {
    if (received === 0) return;
    progress(received / devices);
    if (received === devices) process.stderr.write("sealed: the devices report as soon as their window has begun\n");
  });
  const result = await unless("window-closed", running);
  if (!result) throw failure(tooLate(devices, manifest.minimumDevices));
  console.log(
    json ? JSON.stringify(result) : describe(result, resultsCommand(manifest, { server, window: result.window })),
  );
}

function tooLate(devices: number, minimumDevices: number): string {
  const advice =
    devices > minimumDevices
      ? `try fewer with --devices, but not below the task's minimum, ${minimumDevices}`
      : `fewer than the task's minimum, ${minimumDevices}, would not be released`;
  return `the window ended before all ${devices} devices had reported: ${advice}; on a slow or busy machine try again, or use longer windows`;
}

function describe({ window, devices, truth, groups = [] }: FleetResult, next: string): string {
  const shown = (value: number | undefined = Number.NaN): string =>
    Number.isInteger(value) ? `${value}` : value.toFixed(3);
  return [
    formatTable(
      ["metric", groups.length > 0 ? "all devices" : "truth", ...groups.map(({ group }) => group)],
      truth.map(({ name, bucket, truth }, i) => [
        bucket === undefined ? name : `${name} ${bucket}`,
        ...[truth, ...groups.map((group) => group.truth[i]?.truth)].map(shown),
      ]),
      1,
    ),
    "",
    `${devices} devices have reported in window ${window}. The service learns this:`,
    next,
  ].join("\n");
}
