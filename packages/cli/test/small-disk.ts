import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A disk that can be filled, and emptied again. */
export interface SmallDisk {
  readonly folder: string;
  /** Whether a write can fail here. Else the disk is everybody's, and its floor is raised instead of its free space used up. */
  readonly isOwn: boolean;
  /** For `lethe serve`. */
  readonly options: readonly string[];
  fill(): void;
  free(): void;
}

const MEGABYTE = 1_000_000;
const SHARED_FILL = 1000 * MEGABYTE;

/** A disk of 110 MB where the test may mount a file system; else a floor just below what is free on the common disk. */
export function createSmallDisk(): SmallDisk {
  const parent = mkdtempSync(join(tmpdir(), "lethe-disk-"));
  const folder = join(parent, "disk");
  mkdirSync(folder);
  const filling = join(folder, "filling");
  const free = (): void => rmSync(filling, { force: true });
  const isOwn = spawnSync("mount", ["-t", "tmpfs", "-o", "size=110m", "none", folder]).status === 0;
  onTestFinished(() => {
    if (isOwn) spawnSync("umount", ["--lazy", folder]);
    rmSync(parent, { recursive: true, force: true });
  });
  if (isOwn) return { folder, isOwn, options: [], fill: () => fillUp(filling), free };
  const { bavail, bsize } = statfsSync(folder);
  const floor = Math.floor((bavail * bsize - SHARED_FILL / 2) / MEGABYTE);
  const fill = (): void => {
    const { status } = spawnSync("fallocate", ["--length", String(SHARED_FILL), filling]);
    if (status !== 0) writeFileSync(filling, new Uint8Array(SHARED_FILL));
  };
  return { folder, isOwn, options: ["--least-free", String(floor)], fill, free };
}

/** To the last byte. */
function fillUp(path: string): void {
  for (const bytes of [MEGABYTE, 4096]) {
    try {
      for (;;) writeFileSync(path, new Uint8Array(bytes), { flag: "a" });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
  }
}
