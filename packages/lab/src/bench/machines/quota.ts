import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Short, so that a process that has used up its share goes on soon. */
const PERIOD_MICROSECONDS = 20_000;
/** The kernel takes no less. */
const LEAST_MICROSECONDS = 1000;

/** A group of processes that share a quota of the processors. */
export interface QuotaGroup {
  /** All threads of a process, and what it starts. */
  add(pid: number): void;
  /** After the end of all its processes. */
  remove(): void;
}

/** How processes are limited here. */
export interface Quotas {
  /** For people: what limits them, or why nothing does. */
  readonly about: string;
  readonly isLimited: boolean;
  create(): QuotaGroup;
}

/** The files of one version of cgroups. */
interface Hierarchy {
  readonly version: 1 | 2;
  /** Where groups are made. */
  readonly folder: string;
}

/**
 * Limits groups of processes to a fraction of a processor, with cgroups of version 1 or 2. Where there are none, or this
 * user may not make any, groups are not limited, and `about` says so.
 */
export function createQuotas(fraction: number): Quotas {
  const hierarchy = findHierarchy(readFileSync("/proc/self/mounts", "utf8"), readFileSync("/proc/self/cgroup", "utf8"));
  const unlimited = (why: string): Quotas => ({
    about: `no quota: ${why}; processes share all processors`,
    isLimited: false,
    create: () => ({ add: () => undefined, remove: () => undefined }),
  });
  if (!hierarchy) return unlimited("this system has no cgroups for processors");
  try {
    createGroup(hierarchy, fraction).remove();
  } catch (error) {
    return unlimited(`cgroups v${hierarchy.version} cannot be used (${(error as Error).message}), try as root`);
  }
  return {
    about: `${Math.round(1000 * fraction) / 10}% of a core per machine (cgroups v${hierarchy.version})`,
    isLimited: true,
    create: () => createGroup(hierarchy, fraction),
  };
}

/** Finds where groups can be made, from the mounts of this process, and from the groups that it is in. */
export function findHierarchy(mounts: string, own: string): Hierarchy | undefined {
  const lines = mounts.split("\n").map((line) => line.split(" "));
  const ownIn = (controllers: RegExp): string =>
    own
      .split("\n")
      .map((line) => line.split(":"))
      .find(([, names]) => controllers.test(names ?? ""))?.[2] ?? "/";
  const first = lines.find(([, , type, options]) => type === "cgroup" && options?.split(",").includes("cpu"));
  if (first?.[1]) return { version: 1, folder: join(first[1], ownIn(/(^|,)cpu(,|$)/)) };
  const second = lines.find(([, , type]) => type === "cgroup2");
  return second?.[1] ? { version: 2, folder: join(second[1], ownIn(/^$/)) } : undefined;
}

let groups = 0;

function createGroup({ version, folder }: Hierarchy, fraction: number): QuotaGroup {
  const own = join(folder, `lethe-bench-${process.pid}-${groups++}`);
  const quota = Math.max(LEAST_MICROSECONDS, Math.round(fraction * PERIOD_MICROSECONDS));
  if (version === 2) writeFileSync(join(folder, "cgroup.subtree_control"), "+cpu");
  mkdirSync(own);
  try {
    if (version === 1) {
      writeFileSync(join(own, "cpu.cfs_period_us"), String(PERIOD_MICROSECONDS));
      writeFileSync(join(own, "cpu.cfs_quota_us"), String(quota));
    } else writeFileSync(join(own, "cpu.max"), `${quota} ${PERIOD_MICROSECONDS}`);
  } catch (error) {
    rmdirSync(own);
    throw error;
  }
  return {
    add: (pid) => writeFileSync(join(own, "cgroup.procs"), String(pid)),
    remove: () => {
      if (existsSync(own)) rmdirSync(own);
    },
  };
}
