const MOST_QUOTED = 60;

/** A received value for a line of text: short, and without characters that a terminal would obey. */
export function quote(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value !== "string") return String(value);
  const escaped = JSON.stringify(value.slice(0, MOST_QUOTED)).replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
  return shorten(escaped);
}

/** The text, cut to 60 characters. */
export function shorten(text: string): string {
  // A cut must not halve a character of two code units.
  return text.length > MOST_QUOTED ? `${text.slice(0, MOST_QUOTED - 1).replace(/\p{Cs}$/u, "")}…` : text;
}
