import type { Randomness } from "@lethe/core/randomness";
import type { ServerRole } from "@lethe/core/two-server";
import { type Scored, scoreAll } from "../intrusion/battery.ts";
import { gamesFor } from "../intrusion/exact-binomial.ts";
import { playTournaments, type Tournament } from "../intrusion/tournament.ts";
import { isSeen } from "../intrusion/verdict.ts";
import { PLAYED, type PlayedStatistic } from "./devices.ts";
import { CONTROLS, type ColludersArena, type ControlName, type Opponent, RULES } from "./match.ts";
import { ROLES } from "./servers.ts";
import { COLLUDERS_DISTINGUISHERS, COLUMNS, type ColludersDistinguisher } from "./view.ts";

/** The probability that an advantage is seen once it is learnt. */
const POWER = 0.99;

/** How many games are played, against whom. */
export interface CollusionSize {
  /** Scored games against each statistic, for the colluder with the leader and for the one with the helper. */
  readonly rounds: Readonly<Partial<Record<PlayedStatistic, number>>>;
  /** Scored games against each control. */
  readonly controlGames: number;
  /** Games that are learnt from, at least. */
  readonly leastTraining: number;
  /** All intervals of the mode hold together with probability 1 − familyLevel; those of controls are separate. */
  readonly familyLevel: number;
}

/** The size of the published experiment. */
export const DEFAULT_SIZE: CollusionSize = {
  // A write of the others takes twice as long: they keep three slots.
  rounds: { occurrence: 10_000, histogram: 3000, choice: 3000, funnel: 3000 },
  controlGames: 250,
  leastTraining: 150,
  familyLevel: 0.01,
};

type ColludersScore = Scored<ColludersDistinguisher>;

/** One distinguisher with the keys of one server against one statistic. */
export interface CollusionGame extends ColludersScore {
  readonly statistic: PlayedStatistic;
  readonly scheme: "elgamal";
  readonly mode: "two-server";
  /** The server whose keys the distinguisher holds. */
  readonly server: ServerRole;
  /** Scored games, without those that were learnt from. */
  readonly games: number;
  /** The advantage that would be seen once it was learnt. */
  readonly detectable: number;
}

/** What colluders made of something that does not resist them. */
export interface CollusionControl {
  readonly name: ControlName;
  /** Whether the colluder with the leader and the one with the helper both noticed. */
  readonly caught: boolean;
  /** The distinguisher that saw most clearly, if it was caught: of the server that saw less. */
  readonly by?: ColludersDistinguisher;
  readonly server: ServerRole;
  readonly advantage: number;
  readonly low: number;
  readonly high: number;
  /** Whether the mode itself, in as many games, was caught, which it should not be. */
  readonly caughtWhenMended: boolean;
}

/** All games and controls. */
export interface CollusionResult {
  readonly games: readonly CollusionGame[];
  readonly controls: readonly CollusionControl[];
  readonly familyLevel: number;
  readonly power: number;
}

interface Round extends Tournament<Opponent> {
  readonly training: number;
}

type Scores = Readonly<Record<ServerRole, readonly ColludersScore[]>>;

/** Plays and scores all games and all controls. */
export async function findColludersAdvantages(
  size: CollusionSize,
  arena: ColludersArena,
  random: Randomness,
  progress: (share: number) => void,
): Promise<CollusionResult> {
  const { rounds, controlGames, leastTraining, familyLevel } = size;
  const statistics = PLAYED.filter((statistic) => rounds[statistic] !== undefined);
  const roundsOf = (statistic: PlayedStatistic): number => rounds[statistic] ?? 0;
  const level = familyLevel / (statistics.length * ROLES.length * COLLUDERS_DISTINGUISHERS.length);
  const roundAgainst = (opponent: Opponent, scored: number): Round => {
    const training = Math.max(leastTraining, Math.ceil(scored / 8));
    return { opponent, games: training + scored, training };
  };
  const mode = statistics.map((statistic) => roundAgainst({ statistic }, roundsOf(statistic)));
  const controls = CONTROLS.map((control) => roundAgainst({ control }, controlGames));
  const mended = roundAgainst({ statistic: "occurrence" }, controlGames);
  // The longest come first, so that no thread is left alone with one at the end.
  const all = [...mode, ...controls, mended];
  const scores = new Map<Round, Scores>();
  await playTournaments(
    RULES,
    all,
    arena,
    random,
    (played, i) => {
      const round = all[i] as Round;
      const scoresOf = (role: ServerRole) =>
        scoreAll(played[role], round.training, level, COLLUDERS_DISTINGUISHERS, COLUMNS);
      scores.set(round, { leader: scoresOf("leader"), helper: scoresOf("helper") });
    },
    progress,
  );
  const scored = (round: Round | undefined, role: ServerRole): readonly ColludersScore[] =>
    (round && scores.get(round)?.[role]) ?? [];
  const caughtWhenMended = ROLES.some((role) => scored(mended, role).some(isSeen));
  return {
    games: statistics.flatMap((statistic, i) =>
      ROLES.flatMap((server) =>
        scored(mode[i], server).map(
          (score): CollusionGame => ({
            statistic,
            scheme: "elgamal",
            mode: "two-server",
            server,
            ...score,
            games: roundsOf(statistic),
            detectable: detectableWith(roundsOf(statistic), level),
          }),
        ),
      ),
    ),
    controls: CONTROLS.map((name, i) => {
      const clearest = ROLES.map((server) => ({ server, ...clearestOf(scored(controls[i], server)) }));
      return controlOf(
        name,
        clearest.reduce((a, b) => (b.low < a.low ? b : a)),
        caughtWhenMended,
      );
    }),
    familyLevel,
    power: POWER,
  };
}

/** Of several that saw equally well, the last number: those that only key holders have come last. */
function clearestOf(scores: readonly ColludersScore[]): ColludersScore {
  const numbers = scores.filter(({ distinguisher }) => distinguisher !== "classifier");
  const classifier = scores.filter(({ distinguisher }) => distinguisher === "classifier");
  return [...classifier, ...numbers].reduce((a, b) => (b.low >= a.low ? b : a));
}

function controlOf(
  name: ControlName,
  { server, distinguisher, advantage, low, high }: ColludersScore & { readonly server: ServerRole },
  caughtWhenMended: boolean,
): CollusionControl {
  const caught = low > 0;
  return { name, caught, ...(caught && { by: distinguisher }), server, advantage, low, high, caughtWhenMended };
}

/** The least advantage, in hundredths, that this many games show with probability `POWER`. */
function detectableWith(games: number, level: number): number {
  for (let hundredths = 1; hundredths < 100; hundredths++) {
    if (gamesFor(hundredths / 100, level, POWER) <= games) return hundredths / 100;
  }
  return 1;
}
