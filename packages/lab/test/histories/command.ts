import { parseArgs } from "node:util";
import { BUGS, type Bug } from "./bugs.ts";
import { checkHistory } from "./check.ts";
import { type Engine, openEmbedded, openOnServer } from "./engine.ts";
import { type History, historyOf } from "./history.ts";
import type { Violation } from "./oracle.ts";
import { runHistory } from "./run.ts";
import { shrink } from "./shrink.ts";

const OPTIONS = {
  seed: { type: "string" },
  from: { type: "string", default: "1" },
  count: { type: "string", default: "100" },
  bug: { type: "string" },
  database: { type: "string", multiple: true },
  json: { type: "boolean", default: false },
  twice: { type: "boolean", default: false },
  whole: { type: "boolean", default: false },
  seconds: { type: "string" },
  planted: { type: "string", multiple: true },
  "every-bug": { type: "boolean", default: false },
} as const;

/** After this many histories a line says how far it is. */
const PROGRESS = 25;

/** What a run of histories found, as `--json` prints it. */
export interface Found {
  readonly histories: number;
  readonly seconds: number;
  /** Seconds that a processor worked, the start included. */
  readonly processor: number;
  readonly acknowledged: number;
  /** How often each fault occurred in each phase. */
  readonly faults: Readonly<Record<string, number>>;
  /** The first history that fails. */
  readonly failed?: {
    readonly seed: number;
    readonly violations: readonly Violation[];
    readonly command: string;
    readonly smallest?: History;
  };
}

/** `npm run histories`: runs the histories of some seeds, until one fails. */
export async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  const bug = values.bug === undefined ? undefined : bugNamed(values.bug);
  const [first, count] =
    values.seed === undefined ? [Number(values.from), Number(values.count)] : [Number(values.seed), 1];
  const open = values.database ? values.database.map(openOnServer) : [openEmbedded(), openEmbedded()];
  const engines = await Promise.all(open);
  if (values.planted || values["every-bug"]) {
    const bugs = values.planted ?? BUGS.map(({ name }) => name);
    const planted: FoundBug[] = [];
    for (const each of bugs) {
      const found = await findBug(each, engines, Number(values.count));
      planted.push(found);
      console.error(JSON.stringify(found));
    }
    console.log(JSON.stringify(planted));
    process.exit(0);
  }
  const found = await runSeeds({
    first,
    count,
    bug,
    engines,
    isWhole: values.whole,
    isTwice: values.twice,
    seconds: Number(values.seconds ?? "Infinity"),
  });
  for (const engine of engines) await engine.close();
  console.log(values.json ? JSON.stringify(found) : textOf(found));
  // Simulated programs leave nothing that would end by itself.
  process.exit(found.failed ? 1 : 0);
}

/** A bug, the first history that finds it, and the rule that this history breaks. */
export interface FoundBug {
  readonly bug: string;
  readonly seed: number;
  readonly rule: string | undefined;
}

/** Looks for a bug from the first history on; `22 an unchecked lease` looks in the history of seed 22 only. */
async function findBug(text: string, engines: readonly Engine[], most: number): Promise<FoundBug> {
  const [, only, name = ""] = /^(?:(\d+) )?(.*)$/.exec(text) ?? [];
  const bug = bugNamed(name);
  let seed = Number(only ?? 1);
  for (; ; seed++) {
    const { violations } = await checkHistory(historyOf(seed), engines, bug);
    const rule = violations[0]?.rule;
    if (rule !== undefined || only !== undefined || seed === most) return { bug: name, seed, rule };
  }
}

function bugNamed(name: string): Bug {
  const found = BUGS.find((bug) => bug.name === name);
  if (!found) throw new TypeError(`there is no bug ${name}: ${BUGS.map((bug) => bug.name).join("; ")}`);
  return found;
}

interface Seeds {
  readonly first: number;
  readonly count: number;
  readonly bug: Bug | undefined;
  readonly engines: readonly Engine[];
  /** Print a failing history as it is. */
  readonly isWhole: boolean;
  /** Run each history twice: everything must be the same. */
  readonly isTwice: boolean;
  /** Begin no other history after this time. */
  readonly seconds: number;
}

async function runSeeds({ first, count, bug, engines, isWhole, isTwice, seconds }: Seeds): Promise<Found> {
  const faults = new Map<string, number>();
  let acknowledged = 0;
  const start = performance.now();
  for (let seed = first; seed < first + count; seed++) {
    if (performance.now() - start > 1000 * seconds) return summary(seed - first);
    if (seed % PROGRESS === 0)
      console.error(
        `${seed - first} histories in ${Math.round((performance.now() - start) / 1000)} s, ${Math.round(process.cpuUsage().user / 1e6)} s of a processor`,
      );
    const history = historyOf(seed);
    const outcome = await checkHistory(history, engines, bug);
    acknowledged += outcome.acknowledged;
    for (const [what, times] of outcome.faults) faults.set(what, (faults.get(what) ?? 0) + times);
    const violations = [...outcome.violations];
    if (isTwice) {
      const again = await runHistory(history, engines, { bug, hasEvents: true });
      if (again.digest !== outcome.digest)
        violations.push({ rule: "a seed decides everything", detail: differenceOf(outcome.log, again.log) });
    }
    const [violation] = violations;
    if (!violation) continue;
    const fails = async (candidate: History): Promise<boolean> =>
      (await checkHistory(candidate, engines, bug)).violations.some(({ rule }) => rule === violation.rule);
    const named = bug ? ` --bug ${JSON.stringify(bug.name)}` : "";
    return {
      ...summary(seed - first + 1),
      failed: {
        seed,
        violations,
        command: `npm run histories -- --seed ${seed}${named}`,
        ...(!isWhole && !isTwice && { smallest: await shrink(history, fails) }),
      },
    };
  }
  return summary(count);

  function summary(histories: number): Omit<Found, "failed"> {
    const took = Math.round(performance.now() - start) / 1000;
    const processor = Math.round(process.cpuUsage().user / 1e3) / 1e3;
    return { histories, seconds: took, processor, acknowledged, faults: Object.fromEntries([...faults].sort()) };
  }
}

function differenceOf(one: readonly string[], other: readonly string[]): string {
  const place = one.findIndex((line, i) => line !== other[i]);
  return `line ${place}: ${one.slice(place - 3, place + 2).join(" | ")} // ${other.slice(place, place + 2).join(" | ")}`;
}

function textOf({ histories, seconds, processor, acknowledged, faults, failed }: Found): string {
  const lines = [
    `${histories} histories in ${seconds} s, ${(histories / seconds).toFixed(2)} per second (${(histories / processor).toFixed(2)} per second of a processor), ${acknowledged} acknowledged reports`,
    ...Object.entries(faults).map(([what, times]) => `${String(times).padStart(7)}  ${what}`),
  ];
  if (failed) {
    for (const { rule, detail } of failed.violations.slice(0, 8))
      lines.push(`seed ${failed.seed} breaks: ${rule}: ${detail}`);
    if (failed.smallest) lines.push(`the smallest history that does: ${JSON.stringify(failed.smallest)}`);
    lines.push(`again: ${failed.command}`);
  }
  return lines.join("\n");
}
