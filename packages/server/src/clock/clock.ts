/**
 * The service's notion of time. A window that closes is released and erased for good, so the machine's clock is trusted
 * only while it agrees with the time that has passed since it was last right, which the database remembers, and with
 * the database server's clock. `machine-time.ts` reads the machine's clocks, `anchor.ts` says where they should be,
 * `doubt.ts` why they are not trusted. This folder may import `storage` and `log`. Start reading here.
 */

import type { Logger } from "pino";
import { createNews } from "../log/news.ts";
import { databaseTime, findClockMark, storeClockMark } from "../storage/clock-mark.ts";
import type { Database } from "../storage/database.ts";
import { anchorAt, anchorHere, readClock } from "./anchor.ts";
import { ClockInDoubt, type Comparison, type Doubt, doubtAbout } from "./doubt.ts";
import { type MachineTime, machineTime } from "./machine-time.ts";

/** The service's notion of time, in seconds since 1970. */
export interface ServiceClock {
  /** For what cannot be undone: throws `ClockInDoubt` unless the clock is trusted. */
  now(): number;
  /** For what is only displayed or limited: while the clock is in doubt, the time that it should be. */
  guess(): number;
  /** Every time that it may be: one, or two while the clock is in doubt. */
  possible(): readonly number[];
  doubt(): ClockInDoubt | undefined;
  /** Stores the last time. */
  stop(): Promise<void>;
}

/** What a watched clock compares itself with, and how strictly. */
export interface ClockOptions {
  readonly database: Database;
  /** Whether the database is a server, with its own clock. */
  readonly isServer: boolean;
  readonly log: Logger;
  /** The operator confirms that the clock is right now, whatever was stored. */
  readonly accept: boolean;
  /** Whether the service may have been off for any time. */
  readonly anyGap: boolean;
}

const LOOK_MS = 1000;
/** How often the time is stored, in seconds. */
const STORE_EVERY = 60;

/** A clock that the caller gives is always trusted. */
export function givenClock(clock: () => number): ServiceClock {
  const now = (): number => clock() / 1000;
  return { now, guess: now, possible: () => [now()], doubt: () => undefined, stop: async () => undefined };
}

/**
 * Watches this machine's clock. Resolves after the first look. A clock in doubt does not keep the service from
 * starting: the service waits, and logs why.
 */
export async function startClock(options: ClockOptions, machine: MachineTime = machineTime()): Promise<ServiceClock> {
  const { read, look, store } = createWatch(options, machine);
  await look();
  let looking: Promise<void> | undefined;
  const timer = setInterval(() => {
    // Without a database the last comparison holds; others say that the database is away.
    looking ??= look()
      .catch(() => undefined)
      .finally(() => {
        looking = undefined;
      });
  }, LOOK_MS);
  return {
    now: () => {
      const { wall, doubt } = read();
      if (doubt) throw new ClockInDoubt(doubt.reason);
      return wall;
    },
    guess: () => {
      const { wall, doubt } = read();
      return doubt?.expected ?? wall;
    },
    possible: () => {
      const { wall, doubt } = read();
      return doubt ? [wall, doubt.expected] : [wall];
    },
    doubt: () => {
      const { doubt } = read();
      return doubt && new ClockInDoubt(doubt.reason);
    },
    stop: async () => {
      clearInterval(timer);
      await looking;
      if (!read().doubt) await store().catch(() => undefined);
    },
  };
}

/** What is read at any moment, what is looked at now and then, and what is stored. */
interface Watch {
  read(): { readonly wall: number; readonly doubt: Doubt | undefined };
  look(): Promise<void>;
  store(): Promise<void>;
}

function createWatch({ database, isServer, log, accept, anyGap }: ClockOptions, machine: MachineTime): Watch {
  const news = createNews();
  let anchor = anchorHere(machine);
  let compared: Comparison | undefined;
  let storedAt: number | undefined;

  const read: Watch["read"] = () => {
    const reading = readClock(anchor, machine);
    return { wall: reading.wall, doubt: doubtAbout(anchor, reading, compared) };
  };

  async function compare(): Promise<void> {
    const before = machine.wall();
    const server = await databaseTime(database);
    // However long the answer took, the server's clock was read in between.
    compared = { server, wall: Math.min(Math.max(server, before), Math.max(machine.wall(), before)) };
  }

  /**
   * Takes over the mark that was stored before this process began, or meanwhile by another process that the operator
   * told to accept the clock.
   */
  async function adopt(isFirst: boolean): Promise<void> {
    const mark = await findClockMark(database);
    const stored = mark && anchorAt(mark, machine, anyGap);
    // A process that has counted the time accepts no looser bound.
    if (stored && (isFirst || stored.isCounted || !anchor.isCounted)) anchor = stored;
  }

  async function store(): Promise<void> {
    anchor = anchorHere(machine);
    await storeClockMark(database, { ...anchor, boot: machine.boot }, accept && storedAt === undefined);
    storedAt = anchor.monotonic;
  }

  function tell(): void {
    const { doubt } = read();
    if (doubt && news.isNews(doubt.kind)) {
      log.error({ code: "clocks-apart", reason: doubt.reason }, "the clock is in doubt");
    }
    if (!doubt && news.over()) log.info("the clock is right again");
  }

  let isFirst = true;
  async function look(): Promise<void> {
    try {
      if (isServer) await compare();
      const isAccepted = accept && storedAt === undefined;
      if (!isAccepted && (isFirst || read().doubt)) await adopt(isFirst);
      isFirst = false;
      const isDue = storedAt === undefined || machine.monotonic() - storedAt >= STORE_EVERY;
      if (isDue && !read().doubt) await store();
    } finally {
      tell();
    }
  }

  return { read, look, store };
}
