/**
 * Changes single values in a JSON text and leaves everything else as somebody typed it. Only texts that `JSON.parse`
 * accepts have places, so `JSON.parse` alone decides what is JSON. No library does this here, because a second
 * parser, such as that of `jsonc-parser`, could disagree with it.
 */

/** Where a value is: keys of objects and positions in lists. */
export type Path = readonly (string | number)[];

/** A part of the text, from its first character to the one behind its last. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

interface Place extends Range {
  /** Of an object or a list. */
  readonly entries?: readonly Entry[];
}

/** A member of an object or an item of a list; `from` is where its key begins, or its value. */
interface Entry {
  readonly key: string | number;
  readonly from: number;
  readonly value: Place;
}

/** Where the value at a path is. Undefined if there is none, or if the text is not JSON. */
export function rangeOf(text: string, path: Path): Range | undefined {
  const place = find(placesIn(text), path);
  return place && { from: place.from, to: place.to };
}

/**
 * The text with another value at a path. If there is none, it comes behind the entry `after`, or behind the last one. The
 * text stays as it is if it is not JSON, or has nothing around the path.
 */
export function withValue(text: string, path: Path, value: string, after?: string): string {
  const root = placesIn(text);
  const place = find(root, path);
  if (place) return replaced(text, place, value);
  const around = find(root, path.slice(0, -1));
  const { entries } = around ?? {};
  if (!around || !entries) return text;
  const key = path.at(-1);
  const before = entries.find((each) => each.key === after) ?? entries.at(-1);
  const named = typeof key === "string" ? JSON.stringify(key) + colonBehind(text, before) + value : value;
  if (!before) return replaced(text, { from: around.from + 1, to: around.to - 1 }, named);
  return replaced(text, { from: before.value.to, to: before.value.to }, `,${gapBefore(text, before)}${named}`);
}

/** The text without the entry at a path, and without the comma that it leaves behind. */
export function withoutEntry(text: string, path: Path): string {
  const { entries = [] } = find(placesIn(text), path.slice(0, -1)) ?? {};
  const i = entries.findIndex(({ key }) => key === path.at(-1));
  const [before, entry, next] = [entries[i - 1], entries[i], entries[i + 1]];
  if (!entry) return text;
  if (next) return replaced(text, { from: entry.from, to: next.from }, "");
  return replaced(text, { from: before?.value.to ?? entry.from, to: entry.value.to }, "");
}

function replaced(text: string, { from, to }: Range, by: string): string {
  return text.slice(0, from) + by + text.slice(to);
}

/** The space before an entry, so that the next one gets the same; at least one. */
function gapBefore(text: string, { from }: Entry): string {
  const [gap = ""] = /\s*$/.exec(text.slice(0, from)) ?? [];
  return gap || " ";
}

/** The colon behind the key of an entry, with its space. */
function colonBehind(text: string, entry: Entry | undefined): string {
  const [colon] = (entry && /\s*:\s*$/.exec(text.slice(entry.from, entry.value.from))) ?? [];
  return colon ?? ": ";
}

/** Of two entries with the same key the last one counts, as for `JSON.parse`. */
function find(root: Place | undefined, path: Path): Place | undefined {
  return path.reduce<Place | undefined>(
    (place, key) => place?.entries?.findLast((each) => each.key === key)?.value,
    root,
  );
}

const TOKEN = /\s*("(?:[^"\\]|\\.)*"|[^\s",:[\]{}]+|[,:[\]{}])\s*/y;

function placesIn(text: string): Place | undefined {
  try {
    JSON.parse(text);
    return scanned(text);
  } catch {
    // Not JSON, or nested so deeply that there is no room for it.
    return undefined;
  }
}

function scanned(text: string): Place {
  let position = 0;
  const next = (): Range & { readonly token: string } => {
    TOKEN.lastIndex = position;
    const [all = "", token = ""] = TOKEN.exec(text) ?? [];
    const from = position + all.indexOf(token);
    position += all.length;
    return { token, from, to: from + token.length };
  };
  const valueFrom = ({ token, from, to }: ReturnType<typeof next>): Place => {
    if (token !== "{" && token !== "[") return { from, to };
    const entries: Entry[] = [];
    for (;;) {
      const first = next();
      if (first.token === "}" || first.token === "]") return { from, to: first.to, entries };
      if (first.token === ",") continue;
      if (token === "[") {
        entries.push({ key: entries.length, from: first.from, value: valueFrom(first) });
        continue;
      }
      // The colon.
      next();
      entries.push({ key: JSON.parse(first.token) as string, from: first.from, value: valueFrom(next()) });
    }
  };
  return valueFrom(next());
}
