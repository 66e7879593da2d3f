/**
 * The game of local pan-privacy, played against real devices and broken ones. `games.ts` plays it; `subjects.ts`,
 * `sdk.ts` and `controls.ts` are the devices; `view.ts` turns what an intruder sees into numbers; `battery.ts` guesses
 * from them and is scored on games that it has not learnt from; `match.ts` and `tournament.ts` spread games over threads; `verdict.ts`
 * decides how many games there are and what they show. Imports core, the SDK, `simulate`, `randomness`, `parallel` and
 * `arithmetic`. The experiment `intrusion` runs it; `duel/` plays it with a
 * person.
 */
import { type Randomness, uniformBelow } from "@lethe/core/randomness";
import type { Sample } from "./logistic-regression.ts";
import { FEATURES, measure, type View } from "./view.ts";

/** A device in one window. A segment is the time between two writes; with the SDK, a tick. */
export interface Device {
  readonly segments: number;
  readonly parts: View["parts"];
  /** Lives through a segment in which the event happens, or does not. */
  live(segment: number, happens: boolean): Seen | Promise<Seen>;
  close?(): Promise<void>;
}
/** What an intruder sees of a segment, beside what was stored before it. */
export type Seen = Pick<View, "dump" | "stored" | "noise">;

/**
 * Plays games and returns what the intruder sees in each. In every segment but the first a coin decides between two
 * streams: the event happens now, or it does not; what happened before is the same in both. The intruder guesses the
 * coin. So a window holds many games, each with streams that differ as little as streams can. An intruder who could
 * distinguish any two streams could distinguish two of these, by changing one segment after another.
 */
export async function play(
  nextDevice: () => Device | Promise<Device>,
  games: number,
  random: Randomness,
): Promise<Sample> {
  const features = new Float32Array(games * FEATURES);
  const labels = new Uint8Array(games);
  let game = 0;
  while (game < games) {
    const device = await nextDevice();
    let before = (await device.live(0, false)).stored.at(-1)?.bytes ?? new Uint8Array();
    for (let segment = 1; segment < device.segments && game < games; segment++) {
      const happens = uniformBelow(random, 2) === 1;
      const seen = await device.live(segment, happens);
      measure({ before, parts: device.parts, ...seen }, features, game * FEATURES);
      before = seen.stored.at(-1)?.bytes ?? before;
      labels[game++] = Number(happens);
    }
    await device.close?.();
  }
  return { features, labels };
}

/** Joins samples as if all games had been played in a row. */
export function joinSamples(samples: readonly Sample[]): Sample {
  const lengthOf = (of: keyof Sample): number => samples.reduce((sum, sample) => sum + sample[of].length, 0);
  const joined = { features: new Float32Array(lengthOf("features")), labels: new Uint8Array(lengthOf("labels")) };
  const at = { features: 0, labels: 0 };
  for (const { features, labels } of samples) {
    joined.features.set(features, at.features);
    joined.labels.set(labels, at.labels);
    at.features += features.length;
    at.labels += labels.length;
  }
  return joined;
}
