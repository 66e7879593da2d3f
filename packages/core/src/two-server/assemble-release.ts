import { isSameBytes } from "../bytes.ts";
import { LetheError } from "../error.ts";
import type { Manifest } from "../message/manifest.ts";
import type { Release } from "../message/release.ts";
import { type GroupCounts, type GroupSums, releasedFigures } from "../message/released-groups.ts";
import { releasedPrivacy, type TaskPrice } from "../message/released-metrics.ts";
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
  const { task, version, window, from, to, received, enrolled = received, invalid = 0 } = leader;
  const counts = (leader.groups ?? [{ received, enrolled }]).map((group) => ({ enrolled: group.received, ...group }));
  const counted = sumsOf(manifest, layout, counts, leader.share, helper.share);
  const statistics = layout.map(({ spec, metrics, statistic }) => ({ ...spec, metrics, estimates: statistic }));
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
    ...releasedFigures(manifest, statistics, counted, cost),
    invalid: {
      estimate: invalid,
      standardError: INVALID_COUNT_STANDARD_ERROR,
      epsilon: INVALID_COUNT_EPSILON,
    },
    privacy: releasedPrivacy(cost),
  };
}

/**
 * The sums of each group, and of all reports if there are no groups. The shares have elements of the released groups
 * only.
 */
function sumsOf(
  { groups, minimumDevices }: Manifest,
  layout: TwoServerLayout,
  counts: readonly GroupCounts[],
  leader: Uint8Array,
  helper: Uint8Array,
): GroupSums[] {
  const answers = answersIn(layout.map(({ statistic }) => statistic));
  const isShared = counts.map(({ received }) => groups === undefined || received >= minimumDevices);
  const elements = answers * isShared.filter((is) => is).length;
  if (leader.length !== elements * ELEMENT_BYTES || helper.length !== leader.length || elements === 0) {
    throw new LetheError("bad-share", "a share does not have an element for every answer of the task");
  }
  // With slots in the exponent both servers know every answer that they count, so they count the same.
  if (layout.some(({ statistic }) => statistic.collusion) && !isSameBytes(leader, helper)) {
    throw new LetheError("bad-share", "leader and helper have not counted the same answers: one of them is not honest");
  }
  const sums = addAggregateShares(leader, helper);
  let at = 0;
  const next = (length: number): number[] => {
    at += length;
    return sums.slice(at - length, at);
  };
  return counts.map((group, i) => ({
    ...group,
    sums: isShared[i] ? layout.map(({ statistic }) => next(statistic.answers)) : [],
  }));
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
  for (const { groups } of [leader, helper]) {
    const names = groups?.map(({ group }) => group);
    if (names?.join() !== manifest.groups?.join()) refuse("they do not have the groups of the manifest");
  }
  for (const [i, { group, received }] of (leader.groups ?? []).entries()) {
    if (helper.groups?.[i]?.received !== received) refuse(`they counted different reports of the group ${group}`);
  }
  const inGroups = leader.groups?.reduce((sum, { received }) => sum + received, 0) ?? leader.received;
  if (inGroups !== leader.received) refuse("the groups do not add up to the reports that they counted");
}
