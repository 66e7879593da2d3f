import { inOrder } from "../async/in-order.ts";
import { within } from "../async/within.ts";
import { type Database, DatabaseUnavailable, Unavailable } from "./database.ts";
import { placeOf } from "./place.ts";
import { findWindow, isUnreleased, type WindowIdentity, type WindowRow } from "./windows.ts";

/**
 * All databases of a service. The first holds tasks, releases, and whatever concerns no device; and the row of a window
 * that decides. Every device belongs to one database of its window, by its id (`place.ts`), so that each of its
 * transactions stays in one database.
 */
export interface Databases {
  readonly first: Database;
  readonly all: readonly Database[];
  /** The ids of all but the first, as new windows record them. */
  readonly others: string;
  /** Those of a window, its first database first. Throws `missing(window)` if there is one. */
  of(window: NamedWindow): readonly Database[];
  /** Why this process cannot serve a window: it lacks one of the window's databases. Undefined if it has all. */
  missing(window: NamedWindow): MissingDatabase | undefined;
  close(): Promise<void>;
}

type NamedWindow = Pick<WindowIdentity, "name" | "number" | "others">;

/** The database of a window that a device belongs to. */
export function databaseOf(databases: readonly Database[], device: Uint8Array): Database {
  return databases[placeOf(device, databases.length)] as Database;
}

/** The one database of a service that never has another. */
export function oneDatabase(database: Database): Databases {
  return databasesOf([database], [""]);
}

const ANSWER_MS = 5000;

/**
 * A window with what it has counted in all its databases. A window that has ended has that in its row. Throws
 * `DatabaseUnavailable` if one of them does not answer within 5 s.
 */
export async function withAllParts<Row extends WindowRow>(databases: Databases, row: Row): Promise<Row> {
  if (row.others === "" || !isUnreleased(row)) return row;
  const [, ...others] = databases.of(row);
  const finding = others.map(async (other) => {
    const part = await within(
      ANSWER_MS,
      findWindow(other, row.name, row.number).then((found) => ({ found })),
    );
    if (!part) throw new DatabaseUnavailable(`a database has not answered for ${ANSWER_MS / 1000} s`);
    return part.found;
  });
  return withParts(row, await Promise.all(finding));
}

/** The same; a database that this process lacks, or that does not answer within 5 s, counts nothing. */
export async function withAnsweringParts<Row extends WindowRow>(databases: Databases, row: Row): Promise<Row> {
  if (row.others === "" || !isUnreleased(row)) return row;
  const [, ...others] = databases.all;
  const finding = others.map((other) =>
    within(ANSWER_MS, findWindow(other, row.name, row.number)).catch(() => undefined),
  );
  return withParts(row, await Promise.all(finding));
}

function withParts<Row extends WindowRow>(row: Row, parts: readonly (WindowRow | undefined)[]): Row {
  return { ...row, ...sumOf([row, ...parts.filter((part) => part !== undefined)]) };
}

/** What was counted in several places. */
export function sumOf(
  parts: readonly Pick<WindowRow, "enrolled" | "received">[],
): Pick<WindowRow, "enrolled" | "received"> {
  return {
    enrolled: parts.reduce((sum, { enrolled }) => sum + enrolled, 0),
    received: parts.reduce((sum, { received }) => sum + received, 0),
  };
}

/** Between the ids of databases, where a window records them. */
const SEPARATOR = " ";

/** Databases with these ids, the first one first. */
export function databasesOf(all: readonly Database[], ids: readonly string[]): Databases {
  const [first] = all as [Database];
  const known = new Map(all.map((database, i) => [ids[i] as string, database]));
  const othersOf = ({ others }: NamedWindow): string[] => (others === "" ? [] : others.split(SEPARATOR));
  const missing = (window: NamedWindow): MissingDatabase | undefined => {
    const id = othersOf(window).find((other) => !known.has(other));
    return id === undefined ? undefined : new MissingDatabase(window, id);
  };
  return {
    first,
    all,
    others: ids.slice(1).join(SEPARATOR),
    of: (window) => {
      const lacking = missing(window);
      if (lacking) throw lacking;
      return [first, ...othersOf(window).map((id) => known.get(id) as Database)];
    },
    missing,
    close: () => inOrder(all.map(({ close }) => close)),
  };
}

/** A window has a part in a database that this process was not given. */
class MissingDatabase extends Unavailable {
  constructor({ name, number }: NamedWindow, id: string) {
    super(
      "this process of the service lacks a database: try again later",
      `window ${number} of ${name} has a part in the database ${id}, which DATABASE_URL does not list: list it again; if ` +
        "it is lost, give up its windows with --abandon-lost-windows",
    );
  }
}
