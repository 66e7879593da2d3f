/**
 * How a window ends: with a release (`publish.ts`), with one server's share (`share.ts`), without either because too
 * few devices reported (this file), or lost (`give-up.ts`); afterwards it is erased (`erase.ts`). Each ending is one
 * transaction, and happens once. This folder may import `tally` and `storage`. Start reading here, then `publish.ts`.
 */

import {
  type Refused,
  type Release,
  releasedMetrics,
  releasedPrivacy,
  timesOf,
  type Withheld,
} from "@lethe/core/message";
import type { TaskPlan } from "@lethe/core/plan";
import { INVALID_COUNT_EPSILON, INVALID_COUNT_STANDARD_ERROR } from "@lethe/core/privacy";
import type { OneServerTask, TaskVersion } from "../storage/tasks.ts";
import type { WindowRow } from "../storage/windows.ts";
import type { SumsTally } from "../tally/sealed-tally.ts";

/** How a window that was counted ends: with a release or a share, or without one because too few devices reported. */
export type Published = "released" | "not-enough";

/** A closed window, and what is published about every one. */
export interface ClosedWindow<T extends TaskVersion = TaskVersion> {
  readonly task: T;
  readonly window: WindowRow;
  readonly refused: Refused;
  readonly at: number;
}

/** Why nothing is released, if too few devices reported. */
export function withhold(closed: ClosedWindow): Withheld | undefined {
  const missing = closed.task.manifest.minimumDevices - closed.window.received;
  return missing > 0
    ? { status: "not-enough", missing, ...outcomeOf({ ...closed, manifest: closed.task.manifest }) }
    : undefined;
}

/**
 * The release of a window of one server. The number of devices in it is that of the reports received; whether a report
 * was found invalid shows only in `invalid`, which began with noise.
 */
export function makeRelease(closed: ClosedWindow<OneServerTask>, tally: SumsTally, cost: TaskPlan): Release {
  const statistics = closed.task.layout.map(({ spec, metrics, server }, i) => ({
    ...spec,
    metrics,
    estimates: server,
    sums: tally.sums[i] ?? [],
  }));
  return {
    status: "released",
    ...outcomeOf({ ...closed, manifest: closed.task.manifest }),
    metrics: releasedMetrics(closed.task.manifest.metrics, statistics, closed.window.received, cost),
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
}: Omit<ClosedWindow, "task"> & Pick<TaskVersion, "manifest">): Omit<Withheld, "status" | "missing"> {
  const { from, to } = timesOf(manifest, window.number);
  const { task: name, version } = manifest;
  const { number, enrolled, received } = window;
  return { task: name, version, window: number, from, to, at, enrolled, received, refused };
}
