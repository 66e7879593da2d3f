import type { KeyObject } from "node:crypto";
import { parentPort } from "node:worker_threads";
import type { TaskPlan } from "@lethe/core/plan";
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

/** What a thread can be asked, and what it answers. */
export interface Work {
  issue(keys: CommittedKeys, count: number, signingKey: KeyObject): IssuedKeys[];
  open(keys: CommittedKeys, reports: readonly ReceivedReport[]): BatchSums;
  price(manifest: string, received: number): TaskPlan;
}
export type Call = { [Name in keyof Work]: readonly [Name, ...Parameters<Work[Name]>] }[keyof Work];
export type Outcome = { readonly result: unknown } | { readonly error: string };

const port = parentPort;
if (!port) throw new TypeError("this file runs as a worker thread");

port.on("message", (call: Call) => {
  try {
    port.postMessage({ result: perform(call) } satisfies Outcome);
  } catch (error) {
    port.postMessage({ error: error instanceof Error ? error.message : String(error) } satisfies Outcome);
  }
});

function perform(call: Call): BatchSums | IssuedKeys[] | TaskPlan {
  if (call[0] === "price") return priceRelease(call[1], call[2]);
  try {
    requireCommitted(call[1]);
    return call[0] === "issue" ? issueKeys(call[1], call[2], call[3]) : openReports(call[1], call[2]);
  } finally {
    // This thread's own copy.
    call[1].windowSecret.fill(0);
  }
}
