/** A time in Unix seconds as 2026-03-01 12:00:00. */
export function utc(seconds: number): string {
  return new Date(1000 * seconds).toISOString().slice(0, 19).replace("T", " ");
}

/** The same with its zone, and the local time if it differs. */
export function utcAndLocal(seconds: number): string {
  const offset = new Date(1000 * seconds).getTimezoneOffset();
  return offset === 0 ? `${utc(seconds)} UTC` : `${utc(seconds)} UTC (here ${utc(seconds - 60 * offset)})`;
}

/** A duration in words: 93600 seconds are "1 day 2 hours". */
export function inWords(seconds: number): string {
  const counts = {
    day: Math.floor(seconds / 86_400),
    hour: Math.floor(seconds / 3600) % 24,
    minute: Math.floor(seconds / 60) % 60,
    second: seconds % 60,
  };
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([unit, count]) => `${count} ${unit}${count > 1 ? "s" : ""}`)
    .join(" ");
}
