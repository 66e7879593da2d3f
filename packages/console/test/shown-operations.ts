import type { Operations } from "@lethe/core/message";
import type { Page } from "playwright-core";
import { STATE_WORDS } from "../src/operations/live.ts";

/** What the page shows, with the numbers behind its texts. */
export interface Shown {
  readonly facts: Readonly<Record<string, string>>;
  readonly tasks: readonly {
    readonly name: string;
    readonly next: number;
    /** Number, state, and the figures of each window. */
    readonly windows: readonly (readonly (string | number)[])[];
    readonly refused: Readonly<Record<string, Readonly<Record<string, number>>>>;
  }[];
}

/** Reads the page at once, so that no update comes in between. */
export function shownIn(page: Page): Promise<Shown> {
  return page.evaluate(() => {
    const all = (of: ParentNode, selector: string): HTMLElement[] => [...of.querySelectorAll<HTMLElement>(selector)];
    const numbersOf = (row: HTMLElement): number[] => all(row, "td[data-value]").map((td) => Number(td.dataset.value));
    const textOf = (of: ParentNode, selector: string): string => of.querySelector(selector)?.textContent ?? "";
    const facts = all(document, ".fact").map((fact) => [textOf(fact, "dt"), all(fact, "dd")[0]?.dataset.value ?? ""]);
    return {
      facts: Object.fromEntries(facts),
      tasks: all(document, ".task-windows").map((section) => {
        const reasons = all(section, ".refusals thead th").map((th) => th.textContent ?? "");
        return {
          name: textOf(section, "h2"),
          next: Number(all(section, ".next")[0]?.dataset.value),
          windows: all(section, ".windows tbody tr").map((row) => [
            Number(textOf(row, "th")),
            textOf(row, "td"),
            ...numbersOf(row),
          ]),
          refused: Object.fromEntries(
            all(section, ".refusals tbody tr").map((row) => [
              textOf(row, "th"),
              Object.fromEntries(numbersOf(row).map((requests, i) => [reasons[i + 1] ?? "", requests])),
            ]),
          ),
        };
      }),
    };
  });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** The same from a document of the service. */
export function expectedOf({ tasks, ready, clockInDoubt, backlog, disk }: Operations): Shown {
  const unfinished = tasks
    .flatMap(({ windows }) => windows)
    .filter(({ state }) => !["released", "not-enough", "lost"].includes(state));
  const facts = {
    ...{ Service: ready, Clock: clockInDoubt, "Free disk space": disk?.freeBytes },
    "Devices enrolled": sum(unfinished.map(({ enrolled }) => enrolled)),
    "Reports received": sum(unfinished.map(({ received }) => received)),
    "Requests refused": sum(unfinished.flatMap(({ refused }) => Object.values(refused))),
    "Reports to count": backlog?.reports,
    "Windows overdue": backlog?.windows,
    "Keys ahead": backlog?.keys,
    "Next release": Math.min(...tasks.map(({ nextRelease }) => nextRelease?.at ?? Number.NaN)),
  };
  return {
    facts: Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, String(value)])),
    tasks: tasks.map(({ task, nextRelease, windows }) => {
      const reasons = new Set(windows.flatMap(({ refused }) => Object.keys(refused)));
      return {
        name: task,
        next: nextRelease?.at ?? Number.NaN,
        windows: windows.map((each) => [
          ...[each.window, STATE_WORDS[each.state], each.from, each.to, each.closes, each.enrolled, each.received],
          ...[each.minimumDevices, sum(Object.values(each.refused))],
        ]),
        refused: Object.fromEntries(
          windows
            .filter(({ refused }) => sum(Object.values(refused)) > 0)
            .map(({ window, refused }) => [
              String(window),
              Object.fromEntries([...reasons].map((reason) => [reason, refused[reason] ?? 0])),
            ]),
        ),
      };
    }),
  };
}
