import type { KeyObject } from "node:crypto";
import type { RistrettoGroup } from "@lethe/core/encryption";
import type { TaskPlan } from "@lethe/core/plan";
import type { PreparedHalf, ServerRole } from "@lethe/core/two-server";

import type { Place } from "../storage/place.ts";
import { type Bundle, bundleOf } from "../storage/spare-keys.ts";
import {
  type BatchSums,
  type CommittedKeys,
  type IssuedKeys,
  issueKeys,
  openReports,
  priceRelease,
  type ReceivedReport,
  requireCommitted,
} from "./opening.ts";
import { issueShares, prepareShares, type ReceivedHalf } from "./shares.ts";

/** The functions that a thread performs. */
export interface Work {
  issue(keys: CommittedKeys, count: number, signingKey: KeyObject, place: Place): Bundle;
  open(keys: CommittedKeys, reports: readonly ReceivedReport[]): BatchSums;
  price(manifest: string, received: number): TaskPlan;
  issueShares(
    keys: CommittedKeys,
    role: ServerRole,
    devices: readonly Uint8Array[] | number,
    signingKey: KeyObject,
  ): IssuedKeys[];
  prepareShares(
    keys: CommittedKeys,
    role: ServerRole,
    verifyKey: Uint8Array,
    halves: readonly ReceivedHalf[],
  ): PreparedHalf[];
}
/** A call of one of these functions, as a message. */
export type Call = { [Name in keyof Work]: readonly [Name, ...Parameters<Work[Name]>] }[keyof Work];

/**
 * Performs calls, one after another, and wipes what was used: the window secret in a call, which must be a copy, and
 * what `group` remembers.
 */
export function createWork(group: RistrettoGroup): (call: Call) => Promise<unknown> {
  return async (call) => {
    if (call[0] === "price") return priceRelease(call[1], call[2]);
    try {
      requireCommitted(call[1]);
      if (call[0] === "issue") return bundleOf(issueKeys(call[1], call[2], call[3], call[4], group));
      if (call[0] === "open") return openReports(call[1], call[2], group);
      if (call[0] === "issueShares") return await issueShares(call[1], call[2], call[3], call[4], group);
      return await prepareShares(call[1], call[2], call[3], call[4], group);
    } finally {
      // Wipes this thread's own copy.
      call[1].windowSecret.fill(0);
      group.wipe();
    }
  };
}
