import { accessSync, constants, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomnessFrom, seededRandomnessForTests } from "@lethe/core/randomness";
import { EXPERIMENTS, type Finding, renderContents, renderPage, type Table } from "@lethe/lab/experiments";
import { Argument, type Command } from "commander";
import { failure } from "./failure.ts";
import { createProgress } from "./progress.ts";
import { formatTable } from "./table.ts";

const ALL = "all";

interface LabOptions {
  readonly out?: string;
  readonly seed?: string;
  readonly json?: boolean;
}

export function addLab(program: Command): void {
  const titles = [...EXPERIMENTS].map(([name, { title }]) => `  ${name.padEnd(22)}${title}`);
  program
    .command("lab")
    .description("the paper's claims and our own, put to the test: a table, what it says, a picture")
    .addArgument(new Argument("<experiment>", "which of them").choices([...EXPERIMENTS.keys(), ALL]))
    .option("--out <folder>", `where pictures go; of ${ALL}, the pages too (default: lethe-lab; docs/lab for ${ALL})`)
    .option("--seed <s>", "make the run reproducible")
    .option("--json", "print JSON only")
    .addHelpText("after", `\nExperiments:\n${titles.join("\n")}`)
    .action(run);
}

async function run(experiment: string, options: LabOptions): Promise<void> {
  const out = options.out ?? (experiment === ALL ? join("docs", "lab") : "lethe-lab");
  makeFolder(out);
  if (experiment === ALL) return runAll(out, options);
  const { finding } = await runOne(experiment, out, options);
  console.log(options.json ? JSON.stringify(finding.json) : describe(finding, join(out, `${experiment}.svg`)));
}

/** Before minutes of work that could then not be kept. */
function makeFolder(out: string): void {
  try {
    mkdirSync(out, { recursive: true });
    accessSync(out, constants.W_OK);
  } catch (error) {
    throw failure(`nothing can be written to the folder ${out} (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** All of them, and the pages about them. */
async function runAll(out: string, options: LabOptions): Promise<void> {
  const pages: { name: string; title: string; reading: string }[] = [];
  const found: Record<string, object> = {};
  for (const [name, { title }] of EXPERIMENTS) {
    const { experiment, finding } = await runOne(name, out, options);
    writeFileSync(join(out, `${name}.md`), renderPage(name, title, experiment, finding));
    writeFileSync(join(out, `${name}.json`), `${JSON.stringify(finding.json, null, 2)}\n`);
    pages.push({ name, title, reading: finding.reading });
    found[name] = finding.json;
  }
  writeFileSync(join(out, "README.md"), renderContents(pages));
  if (options.json) return console.log(JSON.stringify(found));
  for (const { title, reading } of pages) console.log(`${title}\n\n${reading}\n`);
  console.log(`Pages: ${join(out, "README.md")}`);
}

async function runOne(name: string, out: string, { seed }: LabOptions) {
  const entry = EXPERIMENTS.get(name);
  if (entry === undefined) throw new RangeError(`there is no experiment ${name}`);
  const experiment = await entry.load();
  const random = seed === undefined ? randomnessFrom(globalThis.crypto) : seededRandomnessForTests(`${name} ${seed}`);
  const finding = await experiment.run({ random, progress: createProgress(name) });
  writeFileSync(join(out, `${name}.svg`), finding.svg);
  return { experiment, finding };
}

function describe({ tables, reading }: Finding, picture: string): string {
  return [...tables.map(describeTable), reading, `Picture: ${picture}`].join("\n\n");
}

function describeTable({ caption, columns, rows, words }: Table): string {
  const table = formatTable(columns, rows, words);
  return caption === undefined ? table : `${caption}:\n${table}`;
}
