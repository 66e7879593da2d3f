/** Where a slider stops: numbers that people choose, each next one visibly larger. */
export type Stops = readonly number[];

const ROUND = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8];

/** Round numbers, ten per decade. */
function decades(from: number, to: number): Stops {
  const powers = Array.from({ length: to - from }, (_, i) => from + i);
  const all = powers.flatMap((power) => ROUND.map((round) => Number((round * 10 ** power).toPrecision(2))));
  return [...all, Number((10 ** to).toPrecision(1))];
}

/** Devices of a fleet. */
export const DEVICES: Stops = decades(2, 9);

/** Devices that a window needs. */
export const MINIMUM_DEVICES: Stops = decades(1, 6);

/** The noise of an answer, as an ε₀: as far as error curves go, and up to what core allows. */
export const EPSILONS: Stops = [...decades(-1, 1), 12, 15, 20];

/** The noise of an answer, as a σ. */
export const SIGMAS: Stops = decades(-1, 2);

/** Shares that are missing. */
export const SHARES: Stops = Array.from({ length: 19 }, (_, i) => Math.round(5 * i) / 100);

/** Ticks of a window: minutes, hours and days have these. */
export const TICKS: Stops = [
  ...[1, 2, 3, 4, 6, 7, 8, 12, 14, 24, 28, 48, 60, 72, 96, 120, 144, 168, 288, 336, 480, 672, 720, 1008, 1440],
  ...[2016, 2880, 4032, 4320, 8640, 10_080, 20_160, 40_320, 100_000],
];

/** The stop that is closest to a value, by its factor. */
export function closestStop(stops: Stops, value: number): number {
  const distance = (stop: number): number => Math.abs(Math.log((stop + LEAST) / (Math.max(0, value) + LEAST)));
  return stops.reduce((best, stop, i) => (distance(stop) < distance(stops[best] as number) ? i : best), 0);
}

/** Shares begin at zero, which has no logarithm. */
const LEAST = 1e-3;
