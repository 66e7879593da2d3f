import { type Randomness, uniformBelow } from "@lethe/core/randomness";
import type { Sample } from "./logistic-regression.ts";
import { FEATURES, measure, type View } from "./view.ts";

/** A device for a window, one segment, the time between two writes, after another; of the SDK, one tick. */
export interface Device {
  readonly segments: number;
  readonly parts: View["parts"];
  /** A segment in which it happens, or does not. */
  live(segment: number, happens: boolean): Seen | Promise<Seen>;
  close?(): Promise<void>;
}
type Seen = Pick<View, "dump" | "stored" | "noise">;

/**
 * In every segment but the first a coin decides between two streams, one in which it happens now and one in which it does not;
 * what happened before is the same in both. The intruder is to guess the coin. A window so holds many games, each with streams that
 * differ as little as streams can; who could tell any two streams apart could tell two of these, one segment after another.
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

/** As if all had been played in a row. */
export function joinSamples(samples: readonly Sample[]): Sample {
  const games = samples.reduce((sum, { labels }) => sum + labels.length, 0);
  const joined = { features: new Float32Array(games * FEATURES), labels: new Uint8Array(games) };
  let at = 0;
  for (const { features, labels } of samples) {
    joined.features.set(features, at * FEATURES);
    joined.labels.set(labels, at);
    at += labels.length;
  }
  return joined;
}
