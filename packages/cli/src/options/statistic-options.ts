import {
  defaultScheme,
  entryOf,
  limitsEvents,
  MODES,
  SCHEMES,
  type SchemeName,
  STATISTICS,
  type StatisticName,
  schemesOf,
} from "@lethe/core/statistic";
import type { NoiseSource } from "@lethe/core/two-server";
import { type Command, InvalidArgumentError, Option } from "commander";
import { wholeNumber } from "./options.ts";

/** The statistics that options can describe; task files describe all. */
const BY_OPTIONS = STATISTICS.filter((statistic) => entryOf(statistic).plan.settings);

/** The names of these statistics, for a sentence. */
export const ALL_STATISTICS: string = anyOf(BY_OPTIONS);

/** --statistic: what is counted. */
export function statisticOption(): Option {
  const choices = `Allowed choices are ${BY_OPTIONS.join(", ")}.`;
  return new Option("--statistic <name>", "what is counted").choices(BY_OPTIONS).argParser((name) => {
    if (BY_OPTIONS.some((each) => each === name)) return name;
    const isKnown = STATISTICS.some((each) => each === name);
    throw new InvalidArgumentError(isKnown ? `${choices} A task file can have it: use --task.` : choices);
  });
}

/** --mode: how many servers count. */
export function modeOption(): Option {
  return new Option("--mode <name>", "how many servers count").choices(MODES).default("one-server");
}

/** --noise: who adds noise if two servers count. */
export function noiseOption(): Option {
  const atServers = STATISTICS.filter((statistic) => entryOf(statistic).run.twoServers?.noise[0] === "servers");
  const text = `two servers: who adds noise (default: servers for ${anyOf(atServers)}, else device)`;
  return new Option("--noise <whose>", text).choices(["device", "servers"]);
}

/** --scheme: how one server's devices encrypt. Commands have different defaults, which `about` describes. */
export function schemeOption(about: string): Option {
  return new Option("--scheme <name>", about).choices(SCHEMES);
}

/** --mechanism: how the devices answer about a histogram. */
export function mechanismOption(): Option {
  const text = "histogram (default: the one with the least error)";
  return new Option("--mechanism <name>", text).choices(["kary", "unary", "per-bucket"]);
}

/** --hides: how many page hides a window allows. Commands have different defaults, which `byDefault` describes. */
export function hidesOption(byDefault: string): Option {
  const text = `writes that a window allows besides ticks (${byDefault})`;
  return new Option("--hides <H>", text).argParser(wholeNumber(0, 100_000));
}

/** --events-per-tick: the limit on events between two writes. */
export function eventsPerTickOption(): Option {
  const text = `lattice ${LIMITED.join(", ")}: how many events between two writes are counted (default: 1)`;
  return new Option("--events-per-tick <n>", text).argParser(wholeNumber(1, 100_000));
}

/** Statistics that count a limited number of events on lattices. */
const LIMITED: readonly StatisticName[] = STATISTICS.filter(
  (statistic) => schemesOf(statistic).includes("lattice") && limitsEvents("lattice", statistic),
);

/** Options that belong to some statistics only, as the entries of the statistics say. */
const OWNED = ["metrics", "edges", "mechanism", "limit", "sigma"] as const;

/** Refuses options that belong to another statistic, or to another number of servers, than the user asked for. */
export function refuseForeignOptions(statistic: StatisticName, command: Command): void {
  const { mode, noise, scheme } = command.opts<{ mode?: string; noise?: NoiseSource; scheme?: SchemeName }>();
  const isTwo = mode === "two-server";
  const isAtServers = isTwo && (noise ?? entryOf(statistic).run.twoServers?.noise[0]) === "servers";
  refuseOfOthers(statistic, command, { isTwo, isAtServers });
  const isLimited = !isTwo && limitsEvents(scheme ?? defaultScheme(statistic), statistic);
  if (!isLimited && isGiven("eventsPerTick", command)) {
    const whose = `--statistic ${anyOf(LIMITED)} with --scheme lattice`;
    command.error(`error: option '--events-per-tick' is for ${whose} only: all others count every event`);
  }
  if (isTwo) refuseWithTwoServers(statistic, command, { noise, scheme, isAtServers });
  else if (isGiven("noise", command)) command.error("error: option '--noise' is for --mode two-server only");
}

function refuseOfOthers(
  statistic: StatisticName,
  command: Command,
  { isTwo, isAtServers }: { readonly isTwo: boolean; readonly isAtServers: boolean },
): void {
  for (const option of OWNED) {
    if (!isGiven(option, command) || (option === "sigma" && isAtServers)) continue;
    const owners = STATISTICS.filter((each) => entryOf(each).plan.settings?.includes(option));
    if (owners.includes(statistic)) continue;
    const or = isTwo && option === "sigma" ? ", or for --noise servers," : "";
    command.error(`error: option '--${option}' is for --statistic ${anyOf(owners)}${or} only`);
  }
}

function refuseWithTwoServers(
  statistic: StatisticName,
  command: Command,
  {
    noise,
    scheme,
    isAtServers,
  }: {
    readonly noise: NoiseSource | undefined;
    readonly scheme: SchemeName | undefined;
    readonly isAtServers: boolean;
  },
): void {
  if (isGiven("scheme", command) && scheme !== "elgamal") {
    command.error("error: --mode two-server has its own encryption, over elgamal: leave out --scheme");
  }
  const possible = entryOf(statistic).run.twoServers?.noise;
  if (!possible) command.error(`error: ${statistic} runs with one server only: leave out --mode two-server`);
  if (noise !== undefined && !possible.includes(noise)) {
    const whose = possible[0] === "servers" ? "the servers'" : "the devices'";
    command.error(`error: with --mode two-server, the noise of a ${statistic} is ${whose}: leave out --noise ${noise}`);
  }
  if (isAtServers && isGiven("mechanism", command)) {
    command.error("error: option '--mechanism' is for noise of the devices only: leave it out, or use --noise device");
  }
}

function isGiven(option: string, command: Command): boolean {
  return command.getOptionValueSource(option) === "cli";
}

/** "a, b or c". */
function anyOf(names: readonly string[]): string {
  return new Intl.ListFormat("en-GB", { type: "disjunction" }).format(names);
}
