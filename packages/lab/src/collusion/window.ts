/**
 * The game of local pan-privacy against an intruder who has the keys of one of two servers, and everything that this
 * server received (docs/two-servers.md). `window.ts` plays it; `servers.ts` are the two servers, whose keys the lab
 * holds; `devices.ts` and `lattices.ts` are the devices, the real ones and three controls; `view.ts` turns what a
 * colluder sees into numbers; `match.ts` spreads games over threads; `verdict.ts` decides how many there are and what
 * they show. What guesses is the battery of `intrusion`. Imports core, the service's group and wrapping, `intrusion`,
 * `parallel` and `randomness`. The experiment `collusion` runs it. Start reading here.
 */
import { type Randomness, uniformBelow } from "@lethe/core/randomness";
import type { ServerRole } from "@lethe/core/two-server";
import { joinSamples } from "../intrusion/games.ts";
import type { Sample } from "../intrusion/logistic-regression.ts";
import { type Received, ROLES } from "./servers.ts";
import { COLUMNS, type ColludersView, measureColluders } from "./view.ts";

/** What the holder of a server's keys sees of a segment, once they know what that server received. */
export type Seen = (role: ServerRole, received: Received) => ColludersView;

/** A device in one window, and its two servers. A segment is the time between two writes. */
export interface Window {
  readonly segments: number;
  /** Lives through a segment in which the event happens, or does not. */
  live(segment: number, happens: boolean): Seen;
  /** Ends the window: what each server receives. */
  end(): Promise<Readonly<Record<ServerRole, Received>>>;
}

/** The same games, as either server's colluder sees them. */
export type Played = Readonly<Record<ServerRole, Sample>>;

/**
 * Plays games and returns what the colluder with the leader sees in each, and the one with the helper. In every segment
 * but the first a coin decides whether the event happens; the colluder guesses the coin. They see what was stored before
 * the segment, the memory in it, what was stored after it, all of it opened as far as their keys go, and what the server
 * received when the window was over.
 */
export async function play(nextWindow: () => Window, games: number, random: Randomness): Promise<Played> {
  const sampleOf = (): Sample => ({
    features: new Float32Array(games * COLUMNS.width),
    labels: new Uint8Array(games),
  });
  const samples: Played = { leader: sampleOf(), helper: sampleOf() };
  let game = 0;
  while (game < games) {
    const window = nextWindow();
    const seen: Seen[] = [];
    const first = game;
    window.live(0, false);
    for (let segment = 1; segment < window.segments && game < games; segment++) {
      const happens = uniformBelow(random, 2) === 1;
      seen.push(window.live(segment, happens));
      for (const role of ROLES) samples[role].labels[game] = Number(happens);
      game++;
    }
    const received = await window.end();
    for (const [i, view] of seen.entries()) {
      for (const role of ROLES) {
        measureColluders(view(role, received[role]), samples[role].features, (first + i) * COLUMNS.width);
      }
    }
  }
  return samples;
}

/** Joins games as if all had been played in a row. */
export function joinPlayed(played: readonly Played[]): Played {
  const joined = (role: ServerRole): Sample => joinSamples(played.map((each) => each[role]));
  return { leader: joined("leader"), helper: joined("helper") };
}
