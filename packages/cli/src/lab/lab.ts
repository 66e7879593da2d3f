/**
 * The command `lethe lab`: runs the experiments of `@lethe/lab` and writes their tables, texts and pictures.
 */
import { accessSync, constants, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomnessFrom, seededRandomnessForTests } from "@lethe/core/randomness";
import {
  EXPERIMENTS,
  type Experiment,
  type Finding,
  renderContents,
  renderPage,
  type Table,
} from "@lethe/lab/experiments";
import { Argument, type Command } from "commander";
import { createProgress } from "../print/progress.ts";
import { formatTable } from "../print/table.ts";
import { failure } from "../system/failure.ts";

const ALL = "all";

interface LabOptions {
  readonly out?: string;
  readonly seed?: string;
  readonly json?: boolean;
}

/** Adds the command to the program. */
export function addLab(program: Command): void {
  const titles = [...EXPERIMENTS].map(([name, { title }]) => `  ${name.padEnd(22)}${title}`);
  program
    .command("lab")
    .description(
      "run an experiment about a claim of the paper or our own: prints a table and its meaning, writes a picture",
    )
    .addArgument(new Argument("<experiment>", "the experiment").choices([...EXPERIMENTS.keys(), ALL]))
    .option(
      "--out <folder>",
      `the folder for pictures, and for pages with ${ALL} (default: lethe-lab; docs/lab for ${ALL})`,
    )
    .option("--seed <s>", "make the run reproducible, except for times and the SDK's own randomness")
    .option("--json", "print JSON only")
    .addHelpText("after", `\nExperiments:\n${titles.join("\n")}`)
    .action(run);
}

async function run(experiment: string, options: LabOptions): Promise<void> {
  const out = options.out ?? (experiment === ALL ? join("docs", "lab") : "lethe-lab");
  makeFolder(out);
  if (experiment === ALL) return runAll(out, options);
  const [prepared] = await prepare([experiment]);
  if (prepared === undefined) return;
  const finding = await perform(prepared, options);
  writeFileSync(join(out, `${experiment}.svg`), finding.svg);
  console.log(options.json ? JSON.stringify(finding.json) : describe(finding, join(out, `${experiment}.svg`)));
}

/** Checks this before minutes of work whose result could not be stored. */
function makeFolder(out: string): void {
  try {
    mkdirSync(out, { recursive: true });
    accessSync(out, constants.W_OK);
  } catch (error) {
    throw failure(`the folder ${out} cannot be written to (${(error as NodeJS.ErrnoException).code})`);
  }
}

interface Prepared {
  readonly name: string;
  readonly title: string;
  readonly experiment: Experiment;
}

/** Loads all experiments and checks that each has what it needs, before the first one runs. */
async function prepare(names: readonly string[]): Promise<Prepared[]> {
  const prepared: Prepared[] = [];
  for (const name of names) {
    const entry = EXPERIMENTS.get(name);
    if (entry === undefined) throw new RangeError(`there is no experiment ${name}`);
    const experiment = await entry.load();
    await experiment.check?.();
    prepared.push({ name, title: entry.title, experiment });
  }
  return prepared;
}

function perform({ name, experiment }: Prepared, { seed }: LabOptions): Promise<Finding> {
  const random = seed === undefined ? randomnessFrom(globalThis.crypto) : seededRandomnessForTests(`${name} ${seed}`);
  return experiment.run({ random, progress: createProgress(name) });
}

/** Runs all experiments, then writes the pages about them: until the last has finished, the old pages stay. */
async function runAll(out: string, options: LabOptions): Promise<void> {
  const done: (Prepared & { readonly finding: Finding })[] = [];
  for (const prepared of await prepare([...EXPERIMENTS.keys()])) {
    done.push({ ...prepared, finding: await perform(prepared, options) });
  }
  for (const { name, title, experiment, finding } of done) {
    writeFileSync(join(out, `${name}.svg`), finding.svg);
    writeFileSync(join(out, `${name}.json`), `${JSON.stringify(finding.json, null, 2)}\n`);
    writeFileSync(join(out, `${name}.md`), renderPage(name, title, experiment, finding));
  }
  const pages = done.map(({ name, title, finding }) => ({ name, title, reading: finding.reading }));
  writeFileSync(join(out, "README.md"), renderContents(pages));
  if (options.json) {
    return console.log(JSON.stringify(Object.fromEntries(done.map(({ name, finding }) => [name, finding.json]))));
  }
  for (const { title, reading } of pages) console.log(`${title}\n\n${reading}\n`);
  console.log(`Pages: ${join(out, "README.md")}`);
}

function describe({ tables, reading }: Finding, picture: string): string {
  return [...tables.map(describeTable), reading, `Picture: ${picture}`].join("\n\n");
}

function describeTable({ caption, columns, rows, words }: Table): string {
  const table = formatTable(columns, rows, words);
  return caption === undefined ? table : `${caption}:\n${table}`;
}
