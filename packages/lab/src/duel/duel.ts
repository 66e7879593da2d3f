import { type Randomness, uniformBelow } from "@lethe/core/randomness";
import { DISTINGUISHERS, type Distinguisher, learn } from "../intrusion/battery.ts";
import type { Device, Seen } from "../intrusion/games.ts";
import type { Sample } from "../intrusion/logistic-regression.ts";
import { FEATURES, measure } from "../intrusion/view.ts";

/** The two devices of a round. */
export const SIDES = ["left", "right"] as const;
/** One of them. */
export type Side = (typeof SIDES)[number];

/** Ticks of a round. In the first, nothing happens on either device; in the others one of them clicks. */
export const ROUND_TICKS = 4;

/** The distinguishers that play. */
export const PLAYERS: readonly Distinguisher[] = DISTINGUISHERS;

/** A round that was played and not yet decided. */
export interface Round {
  /** What an intruder sees of each device, tick by tick. */
  readonly seen: Readonly<Record<Side, readonly Seen[]>>;
  /** Decides the round. The distinguishers guessed before; they learn from it for the next. */
  reveal(): Outcome;
}

/** Who clicked, and who thought so. */
export interface Outcome {
  readonly clicked: Side;
  readonly guesses: ReadonlyMap<Distinguisher, Side>;
}

/** A series of rounds against devices of one kind. */
export interface Duel {
  /** Opens two new devices, has a coin choose the one that clicks, lets both live, and closes them. */
  play(): Promise<Round>;
}

/**
 * Each distinguisher guesses from the rounds that were revealed before, and from what this one shows. If that does not
 * depend on the coin, every guess is right with probability 1/2, whatever came before: the number of right guesses is
 * binomial.
 */
export function createDuel(open: (side: Side) => Device | Promise<Device>, random: Randomness): Duel {
  const rows: Float32Array[] = [];
  const labels: number[] = [];

  /** Of every round both ways around: the sides are alike, and it teaches twice as much. */
  function remember(row: Float32Array, clicked: Side): void {
    rows.push(
      row,
      row.map((value) => -value),
    );
    const label = labelOf(clicked);
    labels.push(label, 1 - label);
  }

  function guessesFrom(row: Float32Array): ReadonlyMap<Distinguisher, Side> {
    const sample = sampleOf(rows, labels);
    return new Map(PLAYERS.map((player) => [player, sideOf(learn(player, sample)(row, 0))]));
  }

  return {
    play: async () => {
      const clicked = sideOf(uniformBelow(random, 2));
      const [left, right] = await live(open, clicked);
      const row = left.features.map((value, i) => value - (right.features[i] as number));
      const guesses = guessesFrom(row);
      let isRevealed = false;
      return {
        seen: { left: left.seen, right: right.seen },
        reveal: () => {
          if (!isRevealed) remember(row, clicked);
          isRevealed = true;
          return { clicked, guesses };
        },
      };
    },
  };
}

/** What is seen of one device, and the features of all its ticks, added up. */
interface Lived {
  readonly seen: readonly Seen[];
  readonly features: Float32Array;
}

/** Both devices live through the same ticks, in turn. */
async function live(open: (side: Side) => Device | Promise<Device>, clicked: Side): Promise<readonly [Lived, Lived]> {
  const devices: Device[] = [];
  try {
    for (const side of SIDES) devices.push(await open(side));
    const [left, right] = devices as [Device, Device];
    const seen: Readonly<Record<Side, Seen[]>> = { left: [], right: [] };
    for (let tick = 0; tick < ROUND_TICKS; tick++) {
      seen.left.push(await left.live(tick, clicked === "left" && tick > 0));
      seen.right.push(await right.live(tick, clicked === "right" && tick > 0));
    }
    return [
      { seen: seen.left, features: featuresOf(seen.left, left.parts) },
      { seen: seen.right, features: featuresOf(seen.right, right.parts) },
    ];
  } finally {
    for (const device of devices) await device.close?.();
  }
}

/** Of all ticks but the first, in which nothing happened: it has no version before it. */
function featuresOf(seen: readonly Seen[], parts: Device["parts"]): Float32Array {
  const sum = new Float32Array(FEATURES);
  const features = new Float32Array(FEATURES);
  let before: Uint8Array = new Uint8Array();
  for (const [tick, each] of seen.entries()) {
    if (tick > 0) {
      measure({ before, parts, ...each }, features, 0);
      for (let i = 0; i < FEATURES; i++) sum[i] = (sum[i] as number) + (features[i] as number);
    }
    before = each.stored.at(-1)?.bytes ?? before;
  }
  return sum;
}

function sampleOf(rows: readonly Float32Array[], labels: readonly number[]): Sample {
  const features = new Float32Array(rows.length * FEATURES);
  for (const [i, row] of rows.entries()) features.set(row, i * FEATURES);
  return { features, labels: Uint8Array.from(labels) };
}

const labelOf = (side: Side): number => (side === "left" ? 1 : 0);
const sideOf = (label: number): Side => (label === 1 ? "left" : "right");
