/**
 * When the reports of a fleet arrive after a window has ended: devices that are on all the time, by day, or for short
 * visits, and the ways in which they may choose the moment at which they send. This folder imports nothing. The
 * experiment `arrivals` runs it.
 */

/** Hours. All times count from the end of a window, which is midnight in UTC. */
const DAY = 24;

/** Numbers from 0 to 1 of one device, spread evenly over the fleet. */
type Draw = (dimension: number) => number;

/** When a device is on. `until` is the end of a period in which it is on at `from`. */
interface Period {
  readonly from: number;
  readonly until: number;
}

/** The habits of a device: the first period that ends after `at`. */
type Habit = (draw: Draw, zone: number) => (at: number) => Period;

/** Draws that decide about habits come first; those of the ways to send follow. */
const HABIT_DRAWS = 13;
const VISITS = 3;
const VISIT_HOURS = 5 / 60;
/** A device that is on by day is on for 16 hours from a moment between 6:00 and 9:00, local time. */
const [WAKES, SPREAD_OF_WAKING, AWAKE] = [6, 3, 16];

/** The name of a habit. */
export type HabitName = "always" | "by day" | "3 visits of 5 minutes";

/** Habits of devices, and whether the time zone matters to them. */
export const HABITS: Readonly<Record<HabitName, { readonly isLocal: boolean; readonly habit: Habit }>> = {
  always: { isLocal: false, habit: () => (at) => ({ from: at, until: Number.POSITIVE_INFINITY }) },
  "by day": {
    isLocal: true,
    habit: (draw, zone) => {
      const wakes = WAKES + SPREAD_OF_WAKING * draw(0) - zone;
      return (at) => {
        const from = wakes + DAY * (1 + Math.floor((at - wakes - AWAKE) / DAY));
        return { from, until: from + AWAKE };
      };
    },
  },
  "3 visits of 5 minutes": {
    isLocal: true,
    habit: (draw, zone) => {
      // Four days of visits at any time of the local day; a window's reports are taken for less.
      const begins = Array.from({ length: 4 * VISITS }, (_, i) => {
        const day = Math.floor(i / VISITS) - 1;
        return DAY * day + WAKES + AWAKE * draw(i) - zone;
      }).toSorted((a, b) => a - b);
      return (at) => {
        const from = begins.find((begin) => begin + VISIT_HOURS > at) ?? Number.POSITIVE_INFINITY;
        return { from, until: from + VISIT_HOURS };
      };
    },
  },
};

/** How a device chooses when to send. */
export interface Way {
  /** Whether the moment is drawn at every start, counted from then; or once, counted from the end of the window. */
  readonly isDrawnAtStart: boolean;
  /** Hours: the moment is up to so late. */
  readonly spread: number;
}

/** When the report of a device arrives, in hours; infinity if it never does. */
function arrivalOf(next: (at: number) => Period, { isDrawnAtStart, spread }: Way, draw: Draw): number {
  if (!isDrawnAtStart) {
    const moment = spread * draw(HABIT_DRAWS);
    return Math.max(moment, next(moment).from);
  }
  let at = 0;
  for (let start = 0; at < 2 * DAY; start++) {
    const { from, until } = next(at);
    const moment = Math.max(at, from) + spread * ((draw(HABIT_DRAWS) + start * Math.SQRT2) % 1);
    if (moment <= until) return moment;
    at = until;
  }
  return Number.POSITIVE_INFINITY;
}

/** What is simulated. */
export interface Scenario {
  readonly habit: HabitName;
  /** Hours ahead of UTC; undefined if devices are spread evenly over all 24 time zones. */
  readonly zone: number | undefined;
  readonly way: Way;
}

/** How the reports of a window arrive. */
export interface Arrivals {
  /** Of each ten minutes after the end of the window: the rate, divided by the mean over a day. */
  readonly rates: readonly number[];
  readonly peak: number;
  /** The share of the reports that arrive within the grace period, which is a day. */
  readonly inTime: number;
}

/** Parts of a day. */
const BINS = 144;

/**
 * Simulates a fleet whose draws are spread evenly instead of at random, by the additive recurrence of the generalized
 * golden ratio [Roberts 2018]: the rates are those to expect, and with 10⁹ devices chance adds less than 0.1% to them.
 */
export function simulateArrivals({ habit: name, zone, way }: Scenario, devices: number): Arrivals {
  const { habit } = HABITS[name];
  const counts = new Array<number>(BINS).fill(0);
  let inTime = 0;
  for (let i = 0; i < devices; i++) {
    const draw: Draw = (dimension) => (0.5 + (i + 1) * (STEPS[dimension] as number)) % 1;
    const own = zone ?? Math.floor(DAY * draw(HABIT_DRAWS + 1)) - DAY / 2;
    const at = arrivalOf(habit(draw, own), way, draw);
    if (at >= DAY) continue;
    inTime++;
    const bin = Math.floor((at * BINS) / DAY);
    counts[bin] = (counts[bin] as number) + 1;
  }
  const rates = counts.map((count) => Math.round((1000 * count * BINS) / inTime) / 1000);
  return { rates, peak: Math.max(...rates), inTime: inTime / devices };
}

/** 1/g, 1/g², … where g^(d+1) = g + 1: the steps of a sequence that fills d dimensions evenly. */
const STEPS = ((): number[] => {
  const dimensions = HABIT_DRAWS + 2;
  let golden = 2;
  for (let i = 0; i < 60; i++) golden = (1 + golden) ** (1 / (dimensions + 1));
  return Array.from({ length: dimensions }, (_, i) => golden ** -(i + 1) % 1);
})();
