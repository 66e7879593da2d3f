import { parseTask, type Task } from "@lethe/core/message";
import type { Locator, Page } from "playwright-core";
import { PATIENCE_MS } from "../../device/test/browser.ts";
import { DEFAULTS, queryOf, type Settings } from "../src/plan/settings.ts";
import { formatRoute } from "../src/shell/route.ts";

/** A task file as somebody typed it. */
export const TEXT = `{
  "version": 1, "task": "editor-health",
  "tickSeconds": 300,   "ticks": 288,
  "graceSeconds": 60, "mode": "one-server", "minimumDevices": 500,
  "budget": { "epsilon": 8, "days": 30 },
  "metrics": [
    { "name": "failed", "statistic": "occurrence", "localEpsilon": 1 },
    { "name": "clicks", "statistic": "histogram", "edges": [0, 1, 2], "localEpsilon": 2 },
    { "name": "tabs", "statistic": "mean", "limit": 10, "sigma": 2 }
  ]
}
`;
export const TASK: Task = parseTask(TEXT);
export const PATIENT = { timeout: PATIENCE_MS };

/** The address of a plan of this file. */
export function planAddress(changes: Partial<Settings> = {}): string {
  return formatRoute({ view: "plan", query: queryOf({ ...DEFAULTS, text: TEXT, ...changes }) });
}

/** The section with one metric's errors, and that with the price of all. */
export const EXACT = `section[aria-label="How exact it is"]`;
export const PRICE = `section[aria-label="What a window costs a device"]`;

export const editor = (page: Page): Locator => page.getByLabel("The task file", { exact: true });
export const number = (page: Page, label: string): Locator => page.getByLabel(`${label}, as a number`, { exact: true });
export const choice = (page: Page, label: string): Locator =>
  page.locator(`label:has(span:text-is("${label}")) select`);
export const button = (page: Page, name: string): Locator => page.getByRole("button", { name, exact: true });

/** Waits until all figures are those of the file and of the sliders. */
export async function settled(page: Page): Promise<void> {
  for (const section of [EXACT, PRICE]) await page.locator(`${section}[aria-busy=false]`).waitFor();
}

/** Figures that are the same up to the last digits, in which the logarithms of Chromium and of Node differ. */
export function rounded(values: readonly number[]): string[] {
  return values.map((value) => value.toPrecision(11));
}

/** The figures that elements show, before they were rounded for people. */
export async function valuesIn(page: Page, selector: string): Promise<string[]> {
  const elements = page.locator(selector);
  return rounded(await elements.evaluateAll((all) => all.map((each) => Number((each as HTMLElement).dataset.value))));
}

/** Those of a table behind a plot, row by row. */
export async function tableOf(page: Page, title: string): Promise<string[][]> {
  const rows = await page
    .locator(`figure:has(h3:text-is("${title}")) tbody tr`)
    .evaluateAll((all) =>
      all.map((row) => [...row.querySelectorAll<HTMLElement>("td")].map(({ dataset }) => Number(dataset.value))),
    );
  return rows.map(rounded);
}
