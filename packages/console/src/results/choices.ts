import type { Route } from "../shell/route.ts";

/** How many windows a trend can have. */
export const SPANS = [7, 30, 90] as const;

/** What the reader chose; all of it is in the address, so that a link shows the same. */
export interface Choices {
  readonly task: string | undefined;
  readonly last: (typeof SPANS)[number];
  /** Unbiased estimates, or the nearest values that could be true. */
  readonly values: Values;
  /** Undefined for all devices. */
  readonly group: string | undefined;
  /** Undefined for all metrics. */
  readonly metric: string | undefined;
  /** Undefined for the newest window with figures. */
  readonly window: number | undefined;
}

/** Which value of a figure is shown. */
export type Values = "raw" | "consistent";

/** Reads the choices from a route; anything unknown is the default. */
export function choicesOf({ path, query }: Route): Choices {
  const window = Number(query.window);
  return {
    task: path[0],
    last: SPANS.find((span) => String(span) === query.last) ?? 30,
    values: query.values === "consistent" ? "consistent" : "raw",
    group: query.group || undefined,
    metric: query.metric || undefined,
    window: query.window !== undefined && Number.isSafeInteger(window) && window >= 0 ? window : undefined,
  };
}

/** The setting with the category whose trend is shown for a metric. */
export function trendSetting(metric: string): string {
  return `of.${metric}`;
}
