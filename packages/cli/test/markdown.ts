/** A fenced block of a markdown file. */
export interface FencedBlock {
  readonly language: string;
  readonly text: string;
}

export function fencedBlocks(markdown: string): FencedBlock[] {
  return [...markdown.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = "", text = ""]) => ({ language, text }));
}
