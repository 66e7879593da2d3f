import { wrap } from "../plot/plot.ts";

const WIDTH = 120;

/**
 * Markdown whose paragraphs and lists have lines of at most 120 characters. Tables, headings, pictures and quotes stay
 * as they are.
 */
export function wrapMarkdown(text: string): string {
  return text
    .trim()
    .split(/\n{2,}/)
    .map(wrapBlock)
    .join("\n\n");
}

function wrapBlock(block: string): string {
  if (/^[|#!>]/.test(block)) return block;
  return block
    .split(/\n(?=- )/)
    .map(wrapItem)
    .join("\n");
}

/** A paragraph, or one item of a list, whose other lines are indented. */
function wrapItem(item: string): string {
  const indent = item.startsWith("- ") ? "  " : "";
  return wrap(item.replace(/\s+/g, " "), WIDTH - indent.length).join(`\n${indent}`);
}
