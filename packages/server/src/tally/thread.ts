import type { KeyObject } from "node:crypto";
import { parentPort } from "node:worker_threads";
import type { TaskPlan } from "@lethe/core/plan";
import type { PreparedHalf, ServerRole } from "@lethe/core/two-server";
import { createTurns } from "../async/in-turn.ts";
import { loadRistretto } from "../ristretto/libsodium.ts";
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
/** The result of a call, as a message. */
export type Outcome = { readonly result: unknown } | { readonly error: string };

const port = parentPort;
if (!port) throw new TypeError("this file runs as a worker thread");

const group = await loadRistretto();

// One after another, also where a function waits for something: the end of one wipes what the next would use.
const inTurn = createTurns();
port.on("message", (call: Call) => void inTurn(() => answer(call)));

async function answer(call: Call): Promise<void> {
  try {
    const result = await perform(call);
    // Copying a bundle would take longer than to hand it over.
    const handedOver = call[0] === "issue" ? Object.values(result as Bundle).map(({ buffer }) => buffer) : [];
    port?.postMessage({ result } satisfies Outcome, handedOver);
  } catch (error) {
    port?.postMessage({ error: error instanceof Error ? error.message : String(error) } satisfies Outcome);
  }
}

async function perform(call: Call): Promise<unknown> {
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
}
