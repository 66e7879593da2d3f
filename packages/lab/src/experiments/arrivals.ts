import { type Arrivals, HABITS, type HabitName, simulateArrivals, type Way } from "../arrivals/arrivals.ts";
import { renderSvg } from "../plot/index.ts";
import type { Experiment, Finding, Surroundings, Table } from "./experiment.ts";
import { percent, whole } from "./figures.ts";
import { wrapMarkdown } from "./wrap-markdown.ts";

/** What is simulated, and how finely. */
export interface ArrivalsSize {
  readonly devices: number;
  /** Of the 24 time zones, every so many. */
  readonly zonesApart: number;
}

type Peak = Pick<Arrivals, "peak" | "inTime">;

/** How reports arrive if devices choose their moment in one way. */
export interface ArrivalsPoint {
  readonly habit: HabitName;
  readonly way: Way;
  /** Devices in all time zones. */
  readonly world: Arrivals;
  /** All devices in the one time zone in which the peak is highest; hours ahead of UTC. */
  readonly worst: Peak & { readonly zone: number };
}

const FULL: ArrivalsSize = { devices: 60_000, zonesApart: 2 };
const FLEET = 1e9;
const SECONDS_PER_DAY = 86_400;
/** Three fifths of the shorter of window and grace period, which are a day here: `device/src/writer/outbox.ts`. */
const SDK_HOURS = 14.4;
/** What the SDK did before, and moments that are drawn once, up to so many hours after the end of the window. */
const WAYS: readonly Way[] = [
  { isDrawnAtStart: true, spread: 1 },
  ...[1, 6, 12, SDK_HOURS, 18, 24].map((spread) => ({ isDrawnAtStart: false, spread })),
];
const LIMIT = 2;

const nameOf = ({ isDrawnAtStart, spread }: Way): string =>
  isDrawnAtStart ? `${spread} h, drawn at every start` : `${spread} h, drawn once`;

/** Simulates every habit and way. */
export function runArrivals(
  { devices, zonesApart }: ArrivalsSize,
  { progress }: Pick<Surroundings, "progress">,
): ArrivalsPoint[] {
  const names = Object.keys(HABITS) as HabitName[];
  const questions = names.flatMap((habit) => WAYS.map((way) => ({ habit, way })));
  return questions.map(({ habit, way }, i) => {
    const zones = Array.from({ length: Math.floor(24 / zonesApart) }, (_, z) => z * zonesApart - 12);
    const inZones = (HABITS[habit].isLocal ? zones : [0]).map((zone) => {
      const { peak, inTime } = simulateArrivals({ habit, zone, way }, devices);
      return { zone, peak, inTime };
    });
    const world = simulateArrivals({ habit, zone: undefined, way }, devices);
    const worst = inZones.reduce((a, b) => (b.peak > a.peak ? b : a));
    progress((i + 1) / questions.length);
    return { habit, way, world, worst };
  });
}

/** When the reports of a fleet arrive, and which random delay keeps the peak low. */
export const arrivals: Experiment = {
  about: wrapMarkdown(`
A window of a day ends at midnight in UTC, everywhere at the same moment. If every device sent its report then, a fleet
of 10⁹ devices would want a service for 10⁹ requests per second that is idle for the rest of the day. So a device waits
for a random time. How long must that be? This experiment looks for the delay that keeps the busiest ten minutes of the
day below twice the mean, without losing reports: the service takes them for one more day, the grace period.

Three habits are simulated, each for a whole fleet, because nobody knows the mixture that you have:

- *always*: devices that are never off;
- *by day*: devices that are on for 16 hours, from a moment between 6:00 and 9:00 local time;
- *3 visits of 5 minutes*: pages that are open three times per day, at any time from 6:00 to 22:00 local time.

A fleet is spread over all 24 time zones, or it is in one: the table has the zone with the highest peak.

There are two ways to wait. A device can draw a delay at every start of the application, counted from then. Or it can
draw a moment once for the window, counted from the end of the window, and send at that moment, or as soon as it is on
after it. The SDK did the first, for up to an hour. It now does the second, for up to three fifths of the window or of the
grace period, whichever is shorter: ${SDK_HOURS} hours here. The draw is the device's random id of that window, so it is
the same after a restart.

**How it is tested.** The draws of the devices are spread evenly instead of at random, so that the rates are those to
expect. With 10⁹ devices chance adds less than 0.1%. Requests that fail are not simulated: devices then wait as the
service asks, and for a random time that doubles.
`),
  run: async ({ progress }) => describeArrivals({ points: runArrivals(FULL, { progress }) }),
};

/** Tables, picture and reading from the figures. */
export function describeArrivals({ points }: { readonly points: readonly ArrivalsPoint[] }): Finding {
  return { json: { points }, tables: [tableOf(points)], reading: readingOf(points), svg: pictureOf(points) };
}

const perSecond = ({ peak, inTime }: Peak): string => whole((peak * inTime * FLEET) / SECONDS_PER_DAY);

function tableOf(points: readonly ArrivalsPoint[]): Table {
  return {
    columns: [
      "devices are on",
      "delay up to",
      "peak / mean, all zones",
      "peak / mean, worst zone",
      "10⁹ devices in the worst zone: reports/s at the peak",
      "in time, all zones",
    ],
    rows: points.map(({ habit, way, world, worst }) => [
      habit,
      nameOf(way),
      world.peak.toFixed(2),
      worst.peak.toFixed(2),
      perSecond(worst),
      percent(world.inTime),
    ]),
    words: 2,
  };
}

function readingOf(points: readonly ArrivalsPoint[]): string {
  const chosen = points.filter(({ way }) => !way.isDrawnAtStart && way.spread === SDK_HOURS);
  const before = points.filter(({ way }) => way.isDrawnAtStart);
  const peaks = (some: readonly ArrivalsPoint[], where: "world" | "worst"): string => {
    const values = some.map((point) => point[where].peak);
    return `${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)}`;
  };
  const highest = (some: readonly ArrivalsPoint[], where: "world" | "worst"): number =>
    Math.max(...some.map((point) => point[where].peak));
  const leastInTime = (some: readonly ArrivalsPoint[]): string =>
    percent(Math.min(...some.map(({ world }) => world.inTime)));
  const shortest = points
    .filter(({ way }) => !way.isDrawnAtStart)
    .map(({ way }) => way.spread)
    .toSorted((a, b) => a - b)
    .find(
      (spread) =>
        highest(
          points.filter(({ way }) => !way.isDrawnAtStart && way.spread === spread),
          "world",
        ) < LIMIT,
    );
  return [
    `With a delay of up to an hour that is drawn at every start, the peak is ${peaks(before, "world")} times the mean for a fleet in all time zones. Of devices that are on for short visits, only ${leastInTime(before)} report in time: most visits end before the delay does.`,
    shortest === undefined
      ? `NO delay of the table keeps the peak below ${LIMIT} times the mean for every habit.`
      : `Of the delays in the table that are drawn once, ${shortest} hours is the shortest that keeps the peak below ${LIMIT} times the mean for every habit.`,
    `With the SDK's ${SDK_HOURS} hours the peak is ${peaks(chosen, "world")} times the mean in all time zones, and ${peaks(chosen, "worst")} times if the whole fleet is in the worst one; at least ${leastInTime(chosen)} report in time.`,
    highest(chosen, "worst") < LIMIT
      ? "So twice the mean is enough capacity for any of these fleets."
      : "A fleet in a single time zone that is switched on in the morning needs more than twice the mean in that hour, or it waits. A service that has too much to do asks devices to come back, and they lose nothing.",
    "Holidays, outages of networks, and releases of an application that start all devices at once are not simulated.",
  ].join(" ");
}

function pictureOf(points: readonly ArrivalsPoint[]): string {
  const line = (habit: HabitName, isDrawnAtStart: boolean): [number, number][] => {
    const point = points.find(
      ({ habit: other, way }) =>
        other === habit && way.isDrawnAtStart === isDrawnAtStart && (isDrawnAtStart || way.spread === SDK_HOURS),
    );
    const rates = point?.world.rates ?? [];
    return rates.map((rate, i) => [((i + 0.5) * 24) / rates.length, rate]);
  };
  return renderSvg({
    title: "When reports arrive, in all time zones together",
    x: { label: "hours after midnight UTC, the end of the window", scale: "linear" },
    y: { label: "rate / mean rate of the day", scale: "log" },
    lines: [
      { name: "always on, an hour at every start", points: line("always", true), style: "dashed", marks: false },
      { name: "by day, an hour at every start", points: line("by day", true), style: "dashed", marks: false },
      { name: `always on, ${SDK_HOURS} h drawn once`, points: line("always", false), marks: false },
      { name: `by day, ${SDK_HOURS} h drawn once`, points: line("by day", false), marks: false },
      { name: `short visits, ${SDK_HOURS} h drawn once`, points: line("3 visits of 5 minutes", false), marks: false },
    ],
    note: `Twice the mean is enough for every line of ${SDK_HOURS} h, and not for the others. Where a line ends, nobody reports.`,
  });
}
