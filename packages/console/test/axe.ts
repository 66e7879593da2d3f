import axe from "axe-core";
import type { Page } from "playwright-core";

/**
 * What axe-core objects to in a page: each rule with the elements that break it. The page's context must have
 * `bypassCSP`, because axe comes as a script of the test.
 */
export async function violationsIn(page: Page): Promise<string[][]> {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { axe: inPage } = window as unknown as { axe: { run(): Promise<Pick<axe.AxeResults, "violations">> } };
    return (await inPage.run()).violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
  });
}
