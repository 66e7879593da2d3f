/**
 * How a window ends: with a release (`publish.ts`), with one server's share (`share.ts`), without either because too
 * few devices reported (this file), or lost (`give-up.ts`); afterwards it is erased (`erase.ts`). Each ending is one
 * transaction, and happens once. This folder may import `tally` and `storage`. Start reading here, then `publish.ts`.
 */

import {
  type GroupCounts,
  type Refused,
  type Release,
  releasedFigures,
  releasedPrivacy,
  timesOf,
  type Withheld,
  withheldGroups,
} from "@lethe/core/message";
import type { TaskPlan } from "@lethe/core/plan";
import { INVALID_COUNT_EPSILON, INVALID_COUNT_STANDARD_ERROR } from "@lethe/core/privacy";
import type { Queryable } from "../storage/database.ts";
import { countEnrolled } from "../storage/devices.ts";
import type { OneServerTask, TaskVersion } from "../storage/tasks.ts";
import type { WindowRow } from "../storage/windows.ts";
import type { SumsTally, WindowTally } from "../tally/sealed-tally.ts";

/** How a window that was counted ends: with a release or a share, or without one because too few devices reported. */
export type Published = "released" | "not-enough";

/** A closed window, and what is published about every one. */
export interface ClosedWindow<T extends TaskVersion = TaskVersion> {
  readonly task: T;
  readonly window: WindowRow;
  /** How many devices each group of the task has; undefined if it has no groups. */
  readonly groups?: readonly GroupCounts[] | undefined;
  readonly refused: Refused;
  readonly at: number;
}

/** Why nothing is released, if too few devices reported. */
export function withhold({ groups: counts, ...closed }: ClosedWindow): Withheld | undefined {
  const { manifest } = closed.task;
  const groups = counts && withheldGroups(manifest, counts);
  if (counts && !groups) return undefined;
  const missing = groups
    ? Math.min(...groups.map((group) => group.missing))
    : manifest.minimumDevices - closed.window.received;
  if (missing <= 0) return undefined;
  return { status: "not-enough", missing, ...outcomeOf({ ...closed, manifest }), ...(groups && { groups }) };
}

/**
 * How many devices of each group enrolled and reported, from a tally that has all reports; undefined if the task has no
 * groups.
 */
export async function countGroups(
  transaction: Queryable,
  task: TaskVersion,
  { id, enrolled }: Pick<WindowRow, "id" | "enrolled">,
  tally: Pick<WindowTally, "received">,
): Promise<GroupCounts[] | undefined> {
  const { groups } = task.manifest;
  return groups && groupCounts(task, await countEnrolled(transaction, id, groups.length, enrolled), tally);
}

/** The same, from how many devices of each group are enrolled. */
export function groupCounts(
  { manifest: { groups } }: TaskVersion,
  enrolled: readonly number[],
  { received }: Pick<WindowTally, "received">,
): GroupCounts[] | undefined {
  return groups?.map((_, i) => ({ enrolled: enrolled[i] ?? 0, received: received[i] ?? 0 }));
}

/**
 * The release of a window of one server. The number of devices in it is that of the reports received; whether a report
 * was found invalid shows only in `invalid`, which began with noise.
 */
export function makeRelease(closed: ClosedWindow<OneServerTask>, tally: SumsTally, cost: TaskPlan): Release {
  const { manifest, layout } = closed.task;
  const statistics = layout.map(({ spec, metrics, server }) => ({ ...spec, metrics, estimates: server }));
  const counted = (closed.groups ?? [closed.window]).map(({ enrolled, received }, group) => ({
    enrolled,
    received,
    sums: tally.sums.slice(group * layout.length, (group + 1) * layout.length),
  }));
  return {
    status: "released",
    ...outcomeOf({ ...closed, manifest }),
    ...releasedFigures(manifest, statistics, counted, cost),
    invalid: {
      estimate: tally.invalid,
      standardError: INVALID_COUNT_STANDARD_ERROR,
      epsilon: INVALID_COUNT_EPSILON,
    },
    privacy: releasedPrivacy(cost),
  };
}

/** What is published about every window that closed. */
export function outcomeOf({
  manifest,
  window,
  refused,
  at,
}: Omit<ClosedWindow, "task" | "groups"> & Pick<TaskVersion, "manifest">): Omit<Withheld, "status" | "missing"> {
  const { from, to } = timesOf(manifest, window.number);
  const { task: name, version } = manifest;
  const { number, enrolled, received } = window;
  return { task: name, version, window: number, from, to, at, enrolled, received, refused };
}
