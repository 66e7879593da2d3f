import { LetheError, type LetheErrorCode } from "@lethe/core/error";
import { encodeSignedManifest, redirectTarget, type SignedManifest } from "@lethe/core/message";
import { Unavailable } from "../storage/database.ts";
import type { TaskVersion } from "../storage/tasks.ts";
import type { WindowRow } from "../storage/windows.ts";
import { macOfRequest, openAnswer, sealRequest } from "./envelope.ts";
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
} from "./messages.ts";
import { commitToVerifyKey, verifyKeyOf } from "./verify-key.ts";

/** Where the other server is, and what proves that it is. */
export interface Peer {
  /** Of the helper; a helper waits to be asked. */
  readonly url?: string;
  /** Known to both servers' processes and to nobody else. */
  readonly secret: string;
  /** The other operator's. */
  readonly operatorKey: string;
}

/** The helper, as its leader sees it. What it refuses is thrown under the name that it gives. */
export interface Helper {
  /** Makes a task that the helper's operator has agreed to. */
  propose(signed: SignedManifest, name: string, version: number): Promise<void>;
  issueKeys(task: TaskVersion, window: PeerWindow, devices: readonly Uint8Array[]): Promise<IssuedHelperKeys>;
  /** The helper's verifiers. It has counted these reports when this resolves, each once, however often it is asked. */
  verify(task: TaskVersion, window: PeerWindow, entries: readonly JobEntry[], sizes: JobSizes): Promise<Uint8Array[]>;
  /** The helper's share is made, and there for good, when this resolves: no more reports are counted. */
  finish(task: TaskVersion, window: PeerWindow, counted: Counted): Promise<void>;
  /** How many requests it has done, so far: more than before if whatever was wrong between the servers is over. */
  answered(): number;
  /** From which the points of queries are drawn. */
  verifyKey(task: string, window: number): Uint8Array;
}

/** Nobody answers at the helper's address, or something that cannot be its answer. */
export class HelperUnavailable extends Unavailable {
  readonly code: LetheErrorCode = "unreachable";

  constructor(message: string, options?: ErrorOptions) {
    super("the helper does not answer: try again", message, options);
  }
}

/** A window, as the leader knows it. */
export type PeerWindow = Pick<WindowRow, "number" | "helperCommitment">;

const TIMEOUT_MS = 60_000;
const NO_COMMITMENT = new Uint8Array(32);

function agreedOf({ hash }: TaskVersion, { helperCommitment }: PeerWindow): Agreed {
  return { manifestHash: hash, helperCommitment: helperCommitment ?? NO_COMMITMENT };
}

export function createHelperClient(
  { url, secret }: Peer & { readonly url: string },
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
