/**
 * `npm run bench`: times of the mathematics and of the service, beside the least that the same work could take. A file
 * per subject; `stopwatch.ts` times functions, `start-service.ts` starts the service in other processes, and
 * `service-load.ts` sends it reports. Not part of the package. Imports everything below it: core, the service,
 * `simulate`, `fleet`.
 */
import { cpus } from "node:os";
import { benchCluster } from "./cluster.ts";
import { baseMultiplication, benchEncryption } from "./encryption.ts";
import { benchPrivacy } from "./privacy.ts";
import { benchService } from "./service.ts";
import { benchStatistics } from "./statistic.ts";
import type { Measurement } from "./stopwatch.ts";
import { benchTwoServer } from "./two-server.ts";
import { benchTwoServerLoad } from "./two-server-load.ts";

const json = process.argv.includes("--json");
/** For tests: enough to see that everything works. Published figures come from a full run. */
const isShort = process.argv.includes("--short");
const SHORT = { uploads: 500, rounds: 1, warmUp: 0 };
const rows: { name: string; value: number; unit: string }[] = [];

if (!json) {
  console.log(`${cpus()[0]?.model ?? "unknown processor"}, Node ${process.version}; best of several rounds.`);
  console.log("The last column is the ratio to one noble Ristretto base multiplication.\n");
}
const unit = baseMultiplication();
report({ name: "noble Ristretto base multiplication", value: unit(), unit: "µs", ratio: 1 });
benchEncryption(unit, report);
benchStatistics(unit, report);
benchPrivacy(unit, report);
await benchTwoServer(unit, report);
// Two services take half a minute to start, and other tests cover them.
if (!isShort) await benchTwoServerLoad({ 1: 3000, 20: 200 }, report);
await benchService(isShort ? SHORT : { uploads: 20_000, rounds: 3, warmUp: 1 }, report);
await benchCluster(isShort ? SHORT : { uploads: 10_000, rounds: 2, warmUp: 1 }, report);
if (json) console.log(JSON.stringify(rows));

function report({ name, value, unit, ratio }: Measurement): void {
  rows.push({ name, value, unit });
  if (ratio !== undefined) rows.push({ name: `${name} / noble base multiplication`, value: ratio, unit: "ratio" });
  if (json) process.stderr.write(`${name}\n`);
  else console.log(tableRow(name, format(value, unit), unit, ratio));
}

function format(value: number, unit: Measurement["unit"]): string {
  if (unit === "ratio") return value.toFixed(3);
  return value.toFixed(unit === "µs" ? 1 : 0);
}

function tableRow(name: string, value: string, unit: string, ratio: number | undefined): string {
  return `${name.padEnd(60)} ${value.padStart(9)} ${unit.padEnd(5)} ${ratio?.toFixed(3).padStart(8) ?? ""}`.trimEnd();
}
