import type { Experiment, Finding, Table } from "./experiment.ts";

/** A page about one experiment, in Markdown; its picture lies beside it, under the same name. */
export function renderPage(name: string, title: string, { about }: Experiment, { tables, reading }: Finding): string {
  return [
    `# ${title}`,
    about.trim(),
    `![${title}](${name}.svg)`,
    "## What came out",
    ...tables.map(renderTable),
    reading,
    `Made by \`npx lethe lab ${name}\`; all figures are in [${name}.json](${name}.json). [All experiments](README.md)`,
    "",
  ].join("\n\n");
}

/** The way into a folder of pages. */
export function renderContents(pages: readonly { name: string; title: string; reading: string }[]): string {
  return [
    "# The lab",
    "Each page takes one claim, of the paper or of ours, and puts it to the test: with the code that devices and servers run, where devices and servers are concerned. `npx lethe lab all` makes them anew, `npx lethe lab <name>` one of them.",
    ...pages.map(({ name, title, reading }) => `## [${title}](${name}.md)\n\n${reading}`),
    "",
  ].join("\n\n");
}

function renderTable({ caption, columns, rows, words }: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const rule = columns.map((_, i) => (i < words ? "---" : "---:"));
  const table = [line(columns), line(rule), ...rows.map(line)].join("\n");
  return caption === undefined ? table : `${caption}:\n\n${table}`;
}
