import type { Experiment, Finding, Table } from "./experiment.ts";
import { wrapMarkdown } from "./wrap-markdown.ts";

/**
 * A page about one experiment, in Markdown. Its picture and its figures are in the same folder, under the same name.
 */
export function renderPage(name: string, title: string, { about }: Experiment, { tables, reading }: Finding): string {
  return [
    `# ${title}`,
    about.trim(),
    `![${title}](${name}.svg)`,
    "## What came out",
    ...tables.map(renderTable),
    wrapMarkdown(reading),
    wrapMarkdown(
      `Made by \`npx lethe lab ${name}\`; all figures are in [${name}.json](${name}.json). [All experiments](README.md)`,
    ),
    "",
  ].join("\n\n");
}

const CONTENTS = `
Each page tests one claim, the paper's or ours. Where devices and servers take part, the test runs the code that real devices and
servers run. \`npx lethe lab all\` runs all experiments again and writes the pages; \`npx lethe lab <name>\` runs one of them.
`;

/** The first page of a folder of pages: what each experiment found. */
export function renderContents(pages: readonly { name: string; title: string; reading: string }[]): string {
  return [
    "# The lab",
    wrapMarkdown(CONTENTS),
    ...pages.map(({ name, title, reading }) => `## [${title}](${name}.md)\n\n${wrapMarkdown(reading)}`),
    "",
  ].join("\n\n");
}

function renderTable({ caption, columns, rows, words }: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const rule = columns.map((_, i) => (i < words ? "---" : "---:"));
  const table = [line(columns), line(rule), ...rows.map(line)].join("\n");
  return caption === undefined ? table : `${wrapMarkdown(`${caption}:`)}\n\n${table}`;
}
