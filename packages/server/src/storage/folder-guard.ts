import { type BigIntStats, statfsSync, statSync } from "node:fs";
import type { Logger } from "pino";
import { OutOfSpace, Unavailable } from "./database.ts";

const MEGABYTE = 1_000_000;
/** The part of a volume that stays free by default, and the bounds of that floor. */
const DEFAULT_SHARE = 0.05;
const LEAST_FLOOR = 24 * MEGABYTE;
const MOST_FLOOR = 256 * MEGABYTE;
/** Stored bytes go into the log, into a table, and into indexes. */
const BYTES_PER_BYTE = 3;
/**
 * A shortage begins below the floor and ends a tenth above it, at most 16 MB, so that the log does not alternate every
 * second.
 */
const MOST_MARGIN = 16 * MEGABYTE;
const LOOK_EVERY_MS = 1000;

/** The folder, or a file in it, is not the one that this process opened. */
export class FolderGone extends Unavailable {
  constructor(folder: string) {
    super(
      "the service has lost its data folder",
      `the data folder ${folder} was removed, replaced or unmounted while it was in use: what is stored from now on would be lost`,
    );
  }
}

/** Watches a data folder. */
export interface FolderGuard {
  /** Throws `FolderGone` if the files that were there at the start are not there now. A few microseconds. */
  requirePresent(): void;
  /** Throws `OutOfSpace` if storing this many bytes would leave less free than the floor. */
  requireRoom(bytes?: number): void;
  /** Notes that the disk refused to store something, although it reports free space. */
  isFull(): void;
  room(): { readonly freeBytes: number; readonly isLow: boolean };
  stop(): void;
}

/**
 * Watches the room on the disk of a folder, and that files in it stay the same ones. It looks every second, and logs
 * one line when room runs out and one when there is room again. A floor of 0 allows the last byte to be used; by
 * default 5% of the volume stay free, at least 24 MB and at most 256 MB.
 */
export function guardFolder(
  folder: string,
  files: readonly string[],
  {
    floorBytes,
    log,
    onGone,
  }: {
    readonly floorBytes: number | undefined;
    readonly log: Logger | undefined;
    readonly onGone: (error: FolderGone) => void;
  },
): FolderGuard {
  const floor = floorBytes ?? defaultFloor(folder);
  const enough = floor + Math.min(floor / 10, MOST_MARGIN);
  const opened = files.map(identityOf);
  let gone: FolderGone | undefined;
  let freeBytes = freeIn(folder) ?? 0;
  /** While room is low: when it is enough again. */
  let resumeAt: number | undefined;

  const requirePresent = (): void => {
    if (!gone && files.some((file, i) => identityOf(file) !== opened[i])) {
      gone = new FolderGone(folder);
      onGone(gone);
    }
    if (gone) throw gone;
  };
  const begin = (until: number): void => {
    if (resumeAt === undefined) {
      log?.error({ freeBytes, floorBytes: floor }, "too little disk space: enrolments, uploads and new tasks get 503");
    }
    resumeAt = Math.max(until, resumeAt ?? 0);
  };
  const look = (bytes = 0): void => {
    freeBytes = freeIn(folder) ?? freeBytes;
    const needed = floor + BYTES_PER_BYTE * bytes;
    if (floor > 0 && freeBytes < needed) begin(Math.max(enough, needed));
    else if (resumeAt !== undefined && freeBytes >= resumeAt) {
      resumeAt = undefined;
      log?.info({ freeBytes, floorBytes: floor }, "enough disk space again");
    }
  };
  look();
  const timer = setInterval(() => {
    look();
    try {
      requirePresent();
    } catch {
      clearInterval(timer);
    }
  }, LOOK_EVERY_MS).unref();
  return {
    requirePresent,
    requireRoom: (bytes = 0) => {
      if (bytes > 0) look(bytes);
      if (resumeAt !== undefined) throw new OutOfSpace();
    },
    isFull: () => {
      look();
      begin(Math.max(enough, freeBytes + MEGABYTE));
    },
    room: () => ({ freeBytes, isLow: resumeAt !== undefined }),
    stop: () => clearInterval(timer),
  };
}

function defaultFloor(folder: string): number {
  const { blocks, bsize } = statfsSync(folder);
  return Math.round(Math.min(MOST_FLOOR, Math.max(LEAST_FLOOR, DEFAULT_SHARE * blocks * bsize)));
}

/** For a process that is not root; undefined if the folder is gone. */
function freeIn(folder: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

/** A text that changes when the file is replaced. A file that cannot be seen, for any reason, counts as gone. */
function identityOf(file: string): string {
  try {
    const { dev, ino }: BigIntStats = statSync(file, { bigint: true });
    return `${dev} ${ino}`;
  } catch {
    return "";
  }
}
