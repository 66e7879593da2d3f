import { within } from "../async/within.ts";
import { type Database, DatabaseUnavailable } from "../storage/database.ts";
import { type Databases, databaseOf } from "../storage/databases.ts";
import type { WindowIdentity } from "../storage/windows.ts";
import { createEnrolment } from "./enrol.ts";
import type { Intake } from "./intake.ts";
import { createKeyStock, type KeyStock } from "./key-stock.ts";
import type { NetworkLimit } from "./network-limit.ts";
import { createUpload } from "./upload.ts";

/** Enrolling and storing in any of the databases. */
export interface Desks extends Pick<Intake, "enrol" | "upload" | "isBusy">, Pick<KeyStock, "keepOnly"> {}

type Desk = Desks;

/**
 * A database that fails, or takes longer than this to enrol a device, is in doubt until it enrols one. Meanwhile one
 * device at a time tries it, once per second at most, and the others go to other databases, if there are any.
 */
const SLOW_MS = 1000;
const RETRY_MS = 1000;
/** A device waits no longer for one of several databases. It may be enrolled, and gets other keys when it comes back. */
const PATIENCE_MS = 5000;

/**
 * One desk per database, each with its own keys and group commits. A report goes to the database that its device belongs
 * to. A new device goes to the database whose turn it is, and gets an id that belongs there.
 */
export function createDesks(
  databases: Databases,
  options: {
    readonly networks: NetworkLimit;
    readonly mostPerWindow: number;
    /** The pool is being used up. */
    readonly onClaimed: () => void;
  },
): Desks {
  const desks = new Map(databases.all.map((database) => [database, createDesk(database, databases, options)]));
  const deskOf = (database: Database): Desk => desks.get(database) as Desk;
  const doubts = new Map<Database, Doubt>();
  let turn = 0;

  const doubt = (database: Database): void =>
    void doubts.set(database, { since: performance.now(), isTried: doubts.get(database)?.isTried ?? false });

  function nextFor(window: WindowIdentity): Database {
    const all = databases.of(window);
    const now = performance.now();
    const trusted = all.filter((database) => {
      const { since = -RETRY_MS, isTried = false } = doubts.get(database) ?? {};
      return !isTried && now - since >= RETRY_MS;
    });
    const choice = trusted.length > 0 ? trusted : all;
    return choice[turn++ % choice.length] as Database;
  }

  return {
    upload: (upload) => deskOf(databaseOf(databases.of(upload.window), upload.device)).upload(upload),
    enrol: async (window, address, group) => {
      const database = nextFor(window);
      const before = doubts.get(database);
      if (before) before.isTried = true;
      const slow = setTimeout(() => doubt(database), SLOW_MS);
      try {
        const enrolled = await inTime(databases, deskOf(database).enrol(window, address, group));
        doubts.delete(database);
        return enrolled;
      } catch (error) {
        if (error instanceof DatabaseUnavailable) doubt(database);
        throw error;
      } finally {
        clearTimeout(slow);
        const after = doubts.get(database);
        if (before && after) after.isTried = false;
      }
    },
    isBusy: () => [...desks.values()].some((desk) => desk.isBusy()),
    keepOnly: (isOpen) => {
      for (const desk of desks.values()) desk.keepOnly(isOpen);
    },
  };
}

/** A database that may be tried again. */
interface Doubt {
  readonly since: number;
  /** A device is trying it now. */
  isTried: boolean;
}

async function inTime<T extends object>({ all }: Databases, enrolling: Promise<T>): Promise<T> {
  if (all.length === 1) return enrolling;
  const enrolled = await within(PATIENCE_MS, enrolling);
  if (enrolled) return enrolled;
  throw new DatabaseUnavailable(`a database has not enrolled a device for ${PATIENCE_MS / 1000} s`);
}

function createDesk(database: Database, databases: Databases, options: Parameters<typeof createDesks>[1]): Desk {
  const { networks, mostPerWindow, onClaimed } = options;
  const keys = createKeyStock(database, onClaimed);
  const databasesOf = (window: WindowIdentity): number => databases.of(window).length;
  return {
    ...createUpload(database),
    enrol: createEnrolment(database, { networks, keys, mostPerWindow, databasesOf }),
    keepOnly: keys.keepOnly,
  };
}
