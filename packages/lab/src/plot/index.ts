export { type Bar, type BarChart, renderBars } from "./bars.ts";
export type { Axis, Line, Plot, Point } from "./plot.ts";
export { renderSvg } from "./svg.ts";
export { renderTerminal } from "./terminal.ts";
