const [BEGIN, END] = ["<!-- figures of npm run bench:cluster -->", "<!-- end of figures -->"];

/** The page with these figures instead of those between its two marks. */
export function withFigures(page: string, figures: string): string {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) {
    throw new TypeError(`the page has no place for figures: it needs the lines ${BEGIN} and ${END}`);
  }
  return `${before}${BEGIN}\n${figures}\n${END}${after}`;
}
