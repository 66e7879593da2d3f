import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A separate disk: ext4 in a file, which the kernel mounts. */
export interface FaultyDisk {
  readonly folder: string;
  /** To the last byte, for everybody. */
  fill(): void;
  free(): void;
  /** From now on nothing can be written. Fails while a file is open for writing, as on any file system. */
  makeReadOnly(): void;
  makeWritable(): void;
  /** From now on nothing can be written, even to files that are open: as ext4 does by itself after an error of the disk. */
  abort(): void;
  /** From now on reads and writes fail with EIO. What was not synced by now is lost. */
  cut(): void;
  /** Mounts it again, as after a start of the machine: ext4 reads its journal. Nobody may have files open there. */
  mountAgain(): void;
}

const DEVICES = ["/dev/loop-control", "/sbin/mkfs.ext4", "/usr/bin/perl"];

/** Whether this machine lets a test make disks. */
export const canMakeDisks: boolean =
  process.getuid?.() === 0 && DEVICES.every((path) => existsSync(path)) && canMount();

/** A file system that nobody reads the journal of, and that writes nothing by itself while a test runs. */
const OPTIONS = "loop,commit=600,errors=remount-ro";

/** A new disk of this many megabytes, which is removed when the test ends. */
export function makeFaultyDisk(megabytes: number): FaultyDisk {
  const parent = mkdtempSync(join(tmpdir(), "lethe-faulty-"));
  const [image, folder] = [join(parent, "image"), join(parent, "disk")];
  mkdirSync(folder);
  writeFileSync(image, "");
  run("truncate", "--size", `${megabytes}M`, image);
  run("/sbin/mkfs.ext4", "-q", "-F", "-m", "0", "-O", "^resize_inode", "-E", "lazy_itable_init=1", image);
  const mount = (): void => run("mount", "-o", OPTIONS, image, folder);
  mount();
  onTestFinished(() => {
    spawnSync("umount", ["--lazy", folder]);
    rmSync(parent, { recursive: true, force: true });
  });
  const filling = join(folder, "filling");
  return {
    folder,
    fill: () => {
      const { bavail, bsize } = statfsSync(folder);
      run("fallocate", "--length", String(bavail * bsize), filling);
      appendUntilFull(`${filling}.rest`);
    },
    free: () => {
      for (const path of [filling, `${filling}.rest`]) rmSync(path, { force: true });
    },
    makeReadOnly: () => run("mount", "-o", "remount,ro", folder),
    makeWritable: () => run("mount", "-o", "remount,rw", folder),
    abort: () => run("mount", "-o", "remount,abort", folder),
    cut: () => shutDown(folder),
    mountAgain: () => {
      run("umount", folder);
      mount();
    },
  };
}

/** EXT4_IOC_SHUTDOWN without writing the journal: what a power failure leaves, which Node has no call for. */
function shutDown(folder: string): void {
  const program =
    'open(F, "<", $ARGV[0]) or die $!; my $how = pack("L", 2); ioctl(F, 0x8004587d, $how) or die "ioctl: $!"';
  run("/usr/bin/perl", "-e", program, folder);
}

function appendUntilFull(path: string): void {
  for (const bytes of [4096, 1]) {
    try {
      for (;;) writeFileSync(path, new Uint8Array(bytes), { flag: "a" });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
  }
}

function run(command: string, ...args: string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${error?.message ?? stderr}`);
}

/** In a container, root may have no right to mount. */
function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "lethe-mount-"));
  try {
    if (spawnSync("mount", ["-t", "tmpfs", "none", folder]).status !== 0) return false;
    run("umount", folder);
    return true;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
