/**
 * Pictures of a few lines, as SVG or in a terminal, and bars in a terminal. `plot.ts` is what all of them share:
 * scales, ticks, places of labels. `error-by-devices.ts` is the picture of `lethe plan`, and exported by itself,
 * because it imports core.
 */
export { type Bar, type BarChart, type Gap, renderBars } from "./bars.ts";
export type { Axis, Line, Plot, Point } from "./plot.ts";
export { renderSvg } from "./svg.ts";
export { renderTerminal } from "./terminal.ts";
