import { isSameBytes } from "../bytes.ts";
import { LetheError } from "../error.ts";
import type { Manifest } from "../message/manifest.ts";
import type { Release } from "../message/release.ts";
import { releasedMetrics, releasedPrivacy, type TaskPrice } from "../message/released-metrics.ts";
import type { WindowShare } from "../message/window-share.ts";
import { INVALID_COUNT_EPSILON, INVALID_COUNT_STANDARD_ERROR } from "../privacy/accounting/invalid-count.ts";
import { ELEMENT_BYTES } from "../sharing/field64.ts";
import { answersIn } from "../statistic/two-server.ts";
import { addAggregateShares } from "./aggregate-share.ts";
import type { TwoServerLayout } from "./task-layout.ts";

/** What neither server can make alone: the release, from both shares of one window. */
export function assembleRelease(
  {
    manifest,
    hash,
    layout,
  }: { readonly manifest: Manifest; readonly hash: Uint8Array; readonly layout: TwoServerLayout },
  leader: WindowShare,
  helper: WindowShare,
  cost: TaskPrice,
): Release {
  requireSame(manifest, hash, leader, helper);
  const answers = answersIn(layout.map(({ statistic }) => statistic));
  if (leader.share.length !== answers * ELEMENT_BYTES || helper.share.length !== leader.share.length) {
    throw new LetheError("bad-share", "a share does not have an element for every answer of the task");
  }
  const sums = addAggregateShares(leader.share, helper.share);
  let at = 0;
  const statistics = layout.map(({ spec, metrics, statistic }) => {
    at += statistic.answers;
    return { ...spec, metrics, estimates: statistic, sums: sums.slice(at - statistic.answers, at) };
  });
  const { task, version, window, from, to, received, enrolled = received, invalid = 0 } = leader;
  return {
    status: "released",
    task,
    version,
    window,
    from,
    to,
    at: Math.max(leader.at, helper.at),
    enrolled,
    received,
    refused: {},
    metrics: releasedMetrics(manifest.metrics, statistics, received, cost),
    invalid: {
      estimate: invalid,
      standardError: INVALID_COUNT_STANDARD_ERROR,
      epsilon: INVALID_COUNT_EPSILON,
    },
    privacy: releasedPrivacy(cost),
  };
}

function requireSame(manifest: Manifest, hash: Uint8Array, leader: WindowShare, helper: WindowShare): void {
  const refuse = (what: string): never => {
    throw new LetheError("bad-share", `the shares of leader and helper do not belong together: ${what}`);
  };
  if (leader.role !== "leader" || helper.role !== "helper") refuse("they are not one of each");
  for (const field of ["task", "version", "window", "received"] as const) {
    if (leader[field] !== helper[field])
      refuse(`${field} is ${leader[field]} at the leader, ${helper[field]} at the helper`);
  }
  if (leader.task !== manifest.task || leader.version !== manifest.version) refuse("they are of another task");
  if (!isSameBytes(leader.manifestHash, hash) || !isSameBytes(helper.manifestHash, hash))
    refuse("they are of another manifest");
  if (!isSameBytes(leader.reports, helper.reports)) refuse("they counted different reports");
}
