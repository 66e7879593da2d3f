/** Of windows that are shorter, times have seconds: those of a service in development. */
const MINUTE = 60;

/**
 * A time in Unix seconds, as the reader writes dates and times: "Mar 1, 2026, 12:00". With the length of windows that are
 * shorter than a minute, it has seconds.
 */
export function dateAndTime(seconds: number, windowSeconds: number = MINUTE): string {
  const timeStyle = windowSeconds < MINUTE ? "medium" : "short";
  return new Intl.DateTimeFormat(navigator.language, { dateStyle: "medium", timeStyle }).format(1000 * seconds);
}

/** The time of day alone, with seconds: "12:00:05". */
export function timeOfDay(seconds: number): string {
  return new Intl.DateTimeFormat(navigator.language, { timeStyle: "medium" }).format(1000 * seconds);
}

const DAY = { month: "short", day: "numeric" } as const;

/** A time without its year, for a table of times that are near: "Mar 1, 12:00". */
export function dayAndTime(seconds: number): string {
  const options = { ...DAY, hour: "2-digit", minute: "2-digit" } as const;
  return new Intl.DateTimeFormat(navigator.language, options).format(1000 * seconds);
}

/** The same for an axis: only the day if windows are that long, and seconds if they are shorter than a minute. */
export function axisTime(seconds: number, windowSeconds: number): string {
  if (windowSeconds < MINUTE) return timeOfDay(seconds);
  if (windowSeconds < 86_400) return dayAndTime(seconds);
  return new Intl.DateTimeFormat(navigator.language, DAY).format(1000 * seconds);
}

/** A duration in its two largest units: "1 day 2 hours", "3 min 5 s". */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const parts = [
    [Math.floor(whole / 86_400), "day", "days"],
    [Math.floor(whole / 3600) % 24, "hour", "hours"],
    [Math.floor(whole / 60) % 60, "min", "min"],
    [whole % 60, "s", "s"],
  ] as const;
  const said = parts.filter(([count]) => count > 0).slice(0, 2);
  return said.length === 0 ? "0 s" : said.map(([count, one, many]) => `${count} ${count === 1 ? one : many}`).join(" ");
}
