import type { Randomness } from "@lethe/core/randomness";
import { DISTINGUISHERS, type Distinguisher, runBattery, type Scored } from "./battery.ts";
import { FAULTS, type Fault, keyHolderSees } from "./controls.ts";
import { gamesFor } from "./exact-binomial.ts";
import type { Sample } from "./logistic-regression.ts";
import { type Arena, type Opponent, playAll } from "./match.ts";
import { SDK_SUBJECT } from "./sdk.ts";
import { SUBJECTS, type Subject } from "./subjects.ts";
import type { Tournament } from "./tournament.ts";

/**
 * All intervals of real devices hold together with probability 1 − FAMILY_LEVEL. Those of broken and mended devices are
 * separate, at the same level each.
 */
const FAMILY_LEVEL = 0.01;
/** The probability that an advantage is seen once it is learnt. Learning it from few games costs some of that. */
const POWER = 0.99;

/** How many games are played, against whom. */
export interface IntrusionSize {
  readonly subjects: readonly Subject[];
  /** The advantage that would be seen once it was learnt, by scheme. */
  readonly detectable: Readonly<Record<Subject["scheme"], number>>;
  /** The same, against the SDK as a whole. */
  readonly sdkDetectable: number;
  /** Scored games against each broken device. */
  readonly controlGames: number;
  /** Games that are learnt from, at least. */
  readonly leastTraining: number;
  readonly familyLevel: number;
}

/** The size of the published experiment. */
export const DEFAULT_SIZE: IntrusionSize = {
  subjects: SUBJECTS,
  detectable: { lattice: 0.02, elgamal: 0.1 },
  sdkDetectable: 0.1,
  controlGames: 1000,
  leastTraining: 400,
  familyLevel: FAMILY_LEVEL,
};

/** One distinguisher against one subject. */
export interface Game extends Subject, Scored {
  /** Scored games, without those that were learnt from. */
  readonly games: number;
  readonly detectable: number;
}

/** What the distinguishers made of a broken device. */
export interface Control {
  readonly name: Fault;
  readonly caught: boolean;
  /** The distinguisher that saw the fault most clearly, if it was caught. */
  readonly by?: Distinguisher;
  readonly advantage: number;
  readonly low: number;
  readonly high: number;
  /** Whether the same device without the fault was caught, which it should not be. */
  readonly caughtWhenMended: boolean;
}

/** All games and controls. */
export interface IntrusionResult {
  readonly games: readonly Game[];
  /** Against the SDK with its schedule and its records, in fewer games. */
  readonly sdk: readonly Game[];
  readonly controls: readonly Control[];
  readonly familyLevel: number;
  readonly power: number;
}

/** A tournament, and how it is scored. */
interface Round extends Tournament<Opponent> {
  readonly training: number;
  readonly distinguishers: readonly Distinguisher[];
}

function roundAgainst(opponent: Opponent, scored: number, leastTraining: number): Round {
  // Fewer than are scored: they teach a direction and a threshold, not a size. The page states what that costs.
  const training = Math.max(leastTraining, Math.ceil(scored / 8));
  const byKeyHolder = "fault" in opponent && opponent.byKeyHolder;
  const distinguishers: readonly Distinguisher[] = byKeyHolder ? ["noise", ...DISTINGUISHERS] : DISTINGUISHERS;
  return { opponent, games: training + scored, training, distinguishers };
}

/** The level of each single interval. */
function levelOf({ subjects, familyLevel }: IntrusionSize): number {
  // The SDK is one more. Mended devices are not counted: they are controls.
  return familyLevel / ((subjects.length + 1) * DISTINGUISHERS.length);
}

/** Plays and scores all games and all controls. */
export async function findAdvantages(
  size: IntrusionSize,
  arena: Arena,
  random: Randomness,
  progress: (share: number) => void,
): Promise<IntrusionResult> {
  const level = levelOf(size);
  const against = (opponent: Opponent, detectable: number): Round =>
    roundAgainst(opponent, gamesFor(detectable, level, POWER), size.leastTraining);
  const control = (opponent: Opponent): Round => roundAgainst(opponent, size.controlGames, size.leastTraining);
  const subjects = size.subjects.map((subject) => against(subject, size.detectable[subject.scheme]));
  const sdk = against({ through: "sdk" }, size.sdkDetectable);
  const broken = FAULTS.map((fault) => control({ fault, byKeyHolder: keyHolderSees(fault) }));
  const [mended, mendedForKeyHolder] = [false, true].map((byKeyHolder) => control({ fault: undefined, byKeyHolder }));
  // The longest come first, so that no thread is left alone with one at the end.
  const rounds = [...subjects.toReversed(), sdk, ...broken, mended, mendedForKeyHolder] as readonly Round[];
  const scores = new Map<Round | undefined, Scored[]>();
  const onComplete = (games: Sample, i: number): void => {
    const round = rounds[i] as Round;
    scores.set(round, runBattery(games, round.training, level, round.distinguishers));
  };
  await playAll(rounds, arena, random, onComplete, progress);

  const scoresOf = (round: Round | undefined): Scored[] => scores.get(round) ?? [];
  const gamesIn = (round: Round | undefined, subject: Subject, detectable: number): Game[] =>
    scoresOf(round).map((scored) => ({ ...subject, ...scored, games: scoredIn(round), detectable }));
  return {
    games: size.subjects.flatMap((subject, i) => gamesIn(subjects[i], subject, size.detectable[subject.scheme])),
    sdk: gamesIn(sdk, SDK_SUBJECT, size.sdkDetectable),
    controls: FAULTS.map((fault, i) => {
      const sound = keyHolderSees(fault) ? mendedForKeyHolder : mended;
      return controlOf(fault, scoresOf(broken[i]), scoresOf(sound));
    }),
    familyLevel: size.familyLevel,
    power: POWER,
  };
}

function scoredIn(round: Round | undefined): number {
  return round ? round.games - round.training : 0;
}

function controlOf(name: Fault, scores: readonly Scored[], mended: readonly Scored[]): Control {
  const clearest = scores.reduce((a, b) => (b.low > a.low ? b : a));
  const { distinguisher, advantage, low, high } = clearest;
  const caught = isSeen(clearest);
  return {
    name,
    caught,
    ...(caught && { by: distinguisher }),
    advantage,
    low,
    high,
    caughtWhenMended: mended.some(isSeen),
  };
}

/** Whether the interval rules chance out; also if the guesses are wrong more often than chance allows. */
export function isSeen({ low, high }: Pick<Scored, "low" | "high">): boolean {
  return low > 0 || high < 0;
}
