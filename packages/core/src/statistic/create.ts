import { nobleGroup, type RistrettoGroup } from "../encryption/index.ts";
import type { Statistic } from "./entry.ts";
import { SCHEMES } from "./names.ts";
import { SCHEME_TABLE } from "./schemes.ts";
import type { SchemeName, StatisticSpec } from "./spec.ts";
import { entryOf, STATISTICS, schemesOf } from "./table.ts";
import { DEFAULT_HIDES } from "./writes.ts";

export type { Statistic } from "./entry.ts";

/**
 * A statistic on a scheme, or a `RangeError` if it cannot run; if fewer hides would help, the message says how many
 * fit. On ElGamal, the server's half runs on `group`.
 */
export function createStatistic(
  scheme: SchemeName,
  spec: StatisticSpec,
  group: RistrettoGroup = nobleGroup,
): Statistic {
  // Names may come from a file: a typo must not choose the other scheme.
  requireName("scheme", scheme, SCHEMES);
  requireName("statistic", spec.statistic, STATISTICS);
  const runs: Readonly<Partial<Record<SchemeName, Create>>> = entryOf(spec.statistic).run.oneServer;
  const create = runs[scheme];
  if (!create) {
    const possible = schemesOf(spec.statistic).join(", ");
    throw new RangeError(`${spec.statistic} runs on ${possible} only, not on ${scheme}`);
  }
  return SCHEME_TABLE[scheme].hasLimitedRoom ? withFittingHides(create, spec) : create(spec, group);
}

type Create = (spec: StatisticSpec, group?: RistrettoGroup) => Statistic;

/** Says of a statistic that has no room how many hides it would have room for. */
function withFittingHides(create: Create, spec: StatisticSpec): Statistic {
  try {
    return create(spec);
  } catch (error) {
    const { hides = DEFAULT_HIDES } = spec;
    // Only where hides are among what can be lowered.
    if (!(error instanceof RangeError && /lower .*hides/.test(error.message)) || hides === 0) throw error;
    const largest = largestHides(create, spec, hides);
    const fits = largest < 0 ? "not even hides 0 fits" : `hides ${largest} is the most that fits`;
    throw new RangeError(`${error.message}; ${fits}`);
  }
}

/** The most hides below a number with which the statistic can run; -1 if there are none. */
function largestHides(create: Create, spec: StatisticSpec, above: number): number {
  let [fits, tooMany] = [-1, above];
  while (tooMany - fits > 1) {
    const hides = Math.floor((fits + tooMany) / 2);
    try {
      create({ ...spec, hides });
      fits = hides;
    } catch {
      tooMany = hides;
    }
  }
  return fits;
}

/**
 * A lattice statistic holds about 50 kB; an ElGamal mean, once it has opened a report, its table of a megabyte or more.
 */
const MOST_REMEMBERED = 1024;
const rememberedByGroup = new WeakMap<RistrettoGroup, Map<string, Statistic>>();

/**
 * `createStatistic`, but the same halves for the same question, because choosing lattice parameters takes tens of
 * milliseconds. A statistic has no state, and is made from a copy of `spec`: sharing it shows in nothing but time. Of a
 * statistic about one event, the event's name is not part of the question; the others have their own names.
 */
export function statisticFor(scheme: SchemeName, spec: StatisticSpec, group: RistrettoGroup = nobleGroup): Statistic {
  const { event, ...asked } = spec as StatisticSpec & { readonly event?: string };
  const statistic = unnamedStatistic(scheme, asked as StatisticSpec, group);
  const [{ fields }] = entryOf(spec.statistic).task.forms;
  if (event === undefined || !("event" in fields)) return statistic;
  return { ...statistic, device: { ...statistic.device, events: [event] } };
}

function unnamedStatistic(scheme: SchemeName, spec: StatisticSpec, group: RistrettoGroup): Statistic {
  const question = JSON.stringify([scheme, spec]);
  const on = scheme === "elgamal" ? group : nobleGroup;
  const remembered = rememberedByGroup.get(on) ?? new Map<string, Statistic>();
  rememberedByGroup.set(on, remembered);
  const known = remembered.get(question);
  if (known) return known;
  const statistic = createStatistic(...(JSON.parse(question) as [SchemeName, StatisticSpec]), group);
  if (remembered.size >= MOST_REMEMBERED) remembered.clear();
  remembered.set(question, statistic);
  return statistic;
}

function requireName(what: string, name: string, known: readonly string[]): void {
  if (!known.includes(name)) throw new RangeError(`${what} is one of ${known.join(", ")}, not ${name}`);
}
