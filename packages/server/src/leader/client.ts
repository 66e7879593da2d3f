/**
 * The leader of two servers: what it asks its helper, and how it counts and finishes windows together with the helper.
 * This folder may import `between`, `release`, `tally` and `storage`, never `helper`. Start reading here, then
 * `count.ts`.
 */

import { LetheError, type LetheErrorCode } from "@lethe/core/error";
import { encodeSignedManifest, redirectTarget, type SignedManifest } from "@lethe/core/message";
import { macOfRequest, openAnswer, sealRequest } from "../between/envelope.ts";
import {
  type Agreed,
  type Counted,
  decodeKeys,
  decodeVerifiers,
  encodeFinish,
  encodeJob,
  encodeKeysRequest,
  type IssuedHelperKeys,
  type JobEntry,
  type JobSizes,
} from "../between/messages.ts";
import type { OtherServer } from "../between/other-server.ts";
import { commitToVerifyKey, verifyKeyOf } from "../between/verify-key.ts";
import { Unavailable } from "../storage/database.ts";
import type { TwoServerTask } from "../storage/tasks.ts";
import type { WindowRow } from "../storage/windows.ts";

/**
 * The helper, as its leader sees it. If the helper refuses, these functions throw a `LetheError` with the helper's
 * code.
 */
export interface Helper {
  /** Asks the helper to take a task, which its operator must have agreed to. */
  propose(signed: SignedManifest, name: string, version: number): Promise<void>;
  /** The helper's keys for these devices. The first request for a window makes the window at the helper. */
  issueKeys(task: TwoServerTask, window: HelperWindow, devices: readonly Uint8Array[]): Promise<IssuedHelperKeys>;
  /** The helper's verifiers. It has counted these reports when this resolves, each once, however often it is asked. */
  verify(
    task: TwoServerTask,
    window: HelperWindow,
    entries: readonly JobEntry[],
    sizes: JobSizes,
  ): Promise<Uint8Array[]>;
  /** When this resolves, the helper has published its share and stored it durably, and counts no more reports. */
  finish(task: TwoServerTask, window: HelperWindow, counted: Counted): Promise<void>;
  /**
   * How many requests the helper has answered so far: a higher number means that a failure between the servers is over.
   */
  answered(): number;
  /** The key from which both servers draw the points of their queries. */
  verifyKey(task: string, window: number): Uint8Array;
}

/** Nobody answers at the helper's address, or the answer cannot be the helper's. */
export class HelperUnavailable extends Unavailable {
  readonly code: LetheErrorCode = "unreachable";

  constructor(message: string, options?: ErrorOptions) {
    super("the helper does not answer: try again", message, options);
  }
}

/** What a leader tells the helper about a window. */
export type HelperWindow = Pick<WindowRow, "number" | "helperCommitment">;

const TIMEOUT_MS = 60_000;
const NO_COMMITMENT = new Uint8Array(32);

function agreedOf({ hash }: TwoServerTask, { helperCommitment }: HelperWindow): Agreed {
  return { manifestHash: hash, helperCommitment: helperCommitment ?? NO_COMMITMENT };
}

/**
 * A client of the helper at this address. Requests and answers are authenticated with the secret that both servers
 * share.
 */
export function createHelperClient(
  { url, secret }: OtherServer & { readonly url: string },
  now: () => number,
  ask: typeof fetch = fetch,
): Helper {
  let done = 0;

  async function request(operation: string, name: string, number: number, payload: Uint8Array): Promise<Uint8Array> {
    const sealed = sealRequest(secret, `${operation} ${name} ${number}`, now(), payload);
    const response = await answered(`${url}/v1/peer/${operation}/${name}/${number}`, sealed);
    const answer = openAnswer(secret, macOfRequest(sealed), response);
    done++;
    return answer;
  }

  async function answered(path: string, body: Uint8Array): Promise<Uint8Array> {
    let response: Response;
    let bytes: Uint8Array;
    try {
      response = await ask(path, {
        method: "POST",
        headers: { "content-type": "application/octet-stream" },
        body: body as Uint8Array<ArrayBuffer>,
        // Halves of reports go to the helper's own address and to no other.
        redirect: "manual",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      bytes = new Uint8Array(await response.arrayBuffer());
    } catch (error) {
      throw new HelperUnavailable(`the helper at ${url} cannot be reached`, { cause: error });
    }
    if (response.ok) return bytes;
    if (response.status === 401) {
      throw new LetheError("unauthorized", "the helper does not take this leader's secret: give both the same");
    }
    const target = redirectTarget(response);
    if (target !== undefined) {
      throw new HelperUnavailable(
        `the helper at ${url} redirects to ${target}: give the leader the helper's own address`,
      );
    }
    throw new HelperUnavailable(`the helper at ${url} answered ${response.status}`);
  }

  return {
    answered: () => done,
    verifyKey: (task, window) => verifyKeyOf(secret, task, window),
    propose: async (signed, name, version) => {
      await request("task", name, version, Buffer.from(encodeSignedManifest(signed)));
    },
    issueKeys: async (task, window, devices) => {
      const asked = encodeKeysRequest(agreedOf(task, window), devices);
      return decodeKeys(await request("keys", task.manifest.task, window.number, asked), devices.length);
    },
    verify: async (task, window, entries, { verifier }) => {
      const name = task.manifest.task;
      const verifyKey = commitToVerifyKey(verifyKeyOf(secret, name, window.number));
      const job = encodeJob({ ...agreedOf(task, window), verifyKey }, entries);
      return decodeVerifiers(await request("job", name, window.number, job), entries.length, verifier);
    },
    finish: async (task, window, counted) => {
      await request("finish", task.manifest.task, window.number, encodeFinish(agreedOf(task, window), counted));
    },
  };
}
