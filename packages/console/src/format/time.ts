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

/** The same, short, for an axis: only the day if windows are that long, otherwise day and time, or only a precise time. */
export function axisTime(seconds: number, windowSeconds: number): string {
  const day = { month: "short", day: "numeric" } as const;
  const time = { hour: "2-digit", minute: "2-digit" } as const;
  const short = windowSeconds < MINUTE ? ({ ...time, second: "2-digit" } as const) : { ...day, ...time };
  return new Intl.DateTimeFormat(navigator.language, windowSeconds >= 86_400 ? day : short).format(1000 * seconds);
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
