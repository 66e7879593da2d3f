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

/** For this long after a database did not answer, new devices go to others, if there are any. */
const AVOIDED_MS = 1000;

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
  const failed = new Map<Database, number>();
  let turn = 0;

  function nextFor(window: WindowIdentity): Database {
    const all = databases.of(window);
    const now = performance.now();
    const answering = all.filter((database) => now - (failed.get(database) ?? -AVOIDED_MS) >= AVOIDED_MS);
    const choice = answering.length > 0 ? answering : all;
    return choice[turn++ % choice.length] as Database;
  }

  return {
    upload: (upload) => deskOf(databaseOf(databases.of(upload.window), upload.device)).upload(upload),
    enrol: async (window, address, group) => {
      const database = nextFor(window);
      try {
        return await deskOf(database).enrol(window, address, group);
      } catch (error) {
        if (error instanceof DatabaseUnavailable) failed.set(database, performance.now());
        throw error;
      }
    },
    isBusy: () => [...desks.values()].some((desk) => desk.isBusy()),
    keepOnly: (isOpen) => {
      for (const desk of desks.values()) desk.keepOnly(isOpen);
    },
  };
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
