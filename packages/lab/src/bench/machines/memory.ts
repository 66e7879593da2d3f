import { readFileSync } from "node:fs";

/** The memory of a process, or of a group of them, at one moment: megabytes, and seconds since the beginning. */
export interface MemorySample {
  readonly seconds: number;
  readonly resident: number;
  /** What JavaScript uses; 0 if the process is none of Node. */
  readonly heap: number;
}

/** How memory changed, after the first third, in which caches fill up and code is compiled. */
export interface MemoryTrend {
  /** Means of the first and of the last quarter of this time, in megabytes. */
  readonly first: number;
  readonly last: number;
  readonly heap: number;
  /** Megabytes per hour, of the straight line that fits best. */
  readonly perHour: number;
  /** It grew by more than chance explains, and by an amount that matters. */
  readonly grows: boolean;
}

/** As many standard errors as the slope of noise does not reach, also if neighbouring samples resemble each other. */
const SIGNIFICANT = 8;
/** A part of the memory that does not matter over the time that was watched. */
const IRRELEVANT = 0.05;

/** How the memory of a process changed. Throws if there are too few samples. */
export function trendOf(samples: readonly MemorySample[]): MemoryTrend {
  const settled = samples.slice(Math.floor(samples.length / 3));
  if (settled.length < 8) throw new RangeError("there are too few samples of the memory: take more time");
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const residents = settled.map(({ resident }) => resident);
  const [atMean, residentMean] = [mean(settled.map(({ seconds }) => seconds)), mean(residents)];
  const spread = settled.reduce((sum, { seconds }) => sum + (seconds - atMean) ** 2, 0);
  const slope =
    settled.reduce((sum, { seconds, resident }) => sum + (seconds - atMean) * (resident - residentMean), 0) / spread;
  const rest = settled.reduce(
    (sum, { seconds, resident }) => sum + (resident - residentMean - slope * (seconds - atMean)) ** 2,
    0,
  );
  const standardError = Math.sqrt(rest / (settled.length - 2) / spread);
  const seconds = (settled.at(-1)?.seconds ?? 0) - (settled[0]?.seconds ?? 0);
  const quarter = Math.ceil(settled.length / 4);
  return {
    first: mean(residents.slice(0, quarter)),
    last: mean(residents.slice(-quarter)),
    heap: mean(settled.slice(-quarter).map(({ heap }) => heap)),
    perHour: 3600 * slope,
    grows: slope > SIGNIFICANT * standardError && slope * seconds > IRRELEVANT * residentMean,
  };
}

/** The resident memory of a process in megabytes; for a server of PostgreSQL what its processes do not share. Linux only. */
export function residentOf(pid: number, kind: "node" | "postgres"): number {
  if (kind === "node") return kilobytesOf(pid, "VmRSS") / 1000;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ").filter(Boolean).map(Number);
  return [pid, ...children].reduce((sum, each) => sum + kilobytesOf(each, "RssAnon"), 0) / 1000;
}

/** 0 if the process has just ended. */
function kilobytesOf(pid: number, name: string): number {
  try {
    return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
