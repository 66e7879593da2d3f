import type { Line, Point } from "../plot/index.ts";

/** A line that draws each interval as an upright bar on the line of no advantage. */
export function gameBars(
  name: string,
  from: number,
  intervals: readonly { readonly low: number; readonly high: number }[],
  apart = 1,
): Line {
  const points = intervals.flatMap(({ low, high }, i): Point[] => {
    const x = from + apart * i;
    return [
      [x, 0],
      [x, low],
      [x, high],
      [x, 0],
    ];
  });
  return { name, points, marks: false, style: "solid" };
}
